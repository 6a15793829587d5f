package io.ofi4j.command.top;

import io.ofi4j.info.OpenObjectsMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.DynamicMBean;
import javax.management.MBeanInfo;
import javax.management.ObjectName;

/** A JVM whose bean has the name of ofi4j's, and answers with something else. */
public final class WrongBean implements DynamicMBean {
    private static final long LONGEST_MILLIS = 300_000;

    private final Map<String, Object> answers;

    private WrongBean(Map<String, Object> answers) { this.answers = answers; }

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> answers = switch (arguments[0]) {
            case "text" -> Map.of("LibfabricVersion", "2.1", "Domains", "none");
            case "number" -> Map.of("LibfabricVersion", 7L, "Domains", 8L);
            case "list" -> Map.of("LibfabricVersion", "2.1", "Domains", List.of(1, 2));
            default -> Map.of("LibfabricVersion", "2.1"); // no domains
        };
        ManagementFactory.getPlatformMBeanServer().registerMBean(new WrongBean(answers),
                new ObjectName(OpenObjectsMXBean.NAME));
        System.out.println("waiting");
        Thread.sleep(LONGEST_MILLIS);
    }

    @Override
    public Object getAttribute(String attribute) { return answers.get(attribute); }

    @Override
    public void setAttribute(Attribute attribute) { throw new UnsupportedOperationException(); }

    @Override
    public AttributeList getAttributes(String[] attributes) { return new AttributeList(); }

    @Override
    public AttributeList setAttributes(AttributeList attributes) { return attributes; }

    @Override
    public Object invoke(String action, Object[] parameters, String[] signature) { return null; }

    @Override
    public MBeanInfo getMBeanInfo() { return new MBeanInfo(WrongBean.class.getName(), "", null, null, null, null); }
}
