package io.ofi4j.test;

/** Prints over which provider a test runs that names none, or what is said if there is none. */
final class ChosenProvider {
    static final String CHOSEN = "chosen: ";

    private ChosenProvider() {}

    public static void main(String[] arguments) {
        try (TestFabric fabric = TestFabric.open()) {
            System.out.println(CHOSEN + fabric);
        } catch (RuntimeException e) {
            System.out.println(CHOSEN + e);
        }
    }
}
