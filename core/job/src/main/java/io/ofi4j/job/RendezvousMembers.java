package io.ofi4j.job;

import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** The members that have entered a rendezvous, have left it, or were lost. Used inside the server's monitor. */
final class RendezvousMembers {
    private record Member(int place, String name) {}

    private final Map<Socket, Member> present = new HashMap<>();
    private final Map<Integer, String> left = new TreeMap<>();
    /** What happened to the first member that was lost; null if none was. */
    private String lost;

    /** {@return who else is at this place, or null} */
    String another(Socket socket, int place) {
        return present.entrySet().stream().filter(one -> one.getKey() != socket && one.getValue().place() == place)
                .map(one -> one.getValue().name()).findFirst().orElse(null);
    }

    void enter(Socket socket, int place, String name) { present.put(socket, new Member(place, name)); }

    /** Records that a member leaves; without a reason it leaves as planned. */
    void leave(Socket socket, String why) {
        Member member = present.remove(socket);
        if (member == null) { return; }
        if (why.isEmpty()) {
            left.put(member.place(), member.name());
        } else {
            lose(member.name() + " gave up: " + why);
        }
    }

    /** Records that the connection of a member has ended. */
    void disconnected(Socket socket) {
        Member member = present.remove(socket);
        if (member != null) { lose(member.name() + " has ended without leaving"); }
    }

    /** Records why gatherings and waits can bring nothing any more; the first reason counts. */
    void lose(String what) {
        if (lost == null) { lost = what; }
    }

    String lost() { return lost; }

    boolean isEmpty() { return present.isEmpty(); }

    /** Why a gathering can never be complete; null if it can. */
    String failure(Gathering gathering) {
        if (lost != null) { return lost; }
        return left.entrySet().stream().filter(one -> one.getKey() < gathering.count() && !gathering.has(one.getKey()))
                .map(one -> one.getValue() + " has left already").findFirst().orElse(null);
    }
}
