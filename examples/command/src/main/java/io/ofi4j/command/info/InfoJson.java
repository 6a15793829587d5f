package io.ofi4j.command.info;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.info.Version;
import java.math.BigInteger;
import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Everything as JSON, under the names that the library's attributes have. */
final class InfoJson {
    private InfoJson() {}

    static String of(Libfabric libfabric, List<FabricInfo> infos) {
        JsonObject json = new JsonObject();
        json.addProperty("libfabric", libfabric.version().toString());
        JsonArray array = new JsonArray();
        infos.forEach(info -> array.add(of(info)));
        json.add("infos", array);
        return print(json);
    }

    static String print(JsonElement json) {
        return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().serializeNulls().create().toJson(json);
    }

    private static JsonObject of(FabricInfo info) {
        JsonObject json = new JsonObject();
        json.addProperty("provider", info.provider());
        json.add("capabilities", value(info.capabilities()));
        json.addProperty("capabilityBits", unsigned(info.capabilityBits()));
        json.addProperty("modeBits", unsigned(info.modeBits()));
        json.addProperty("addressFormat", info.addressFormatName());
        json.addProperty("protocolName", info.protocolName());
        json.add("transmit", value(info.transmit()));
        json.add("receive", value(info.receive()));
        json.add("endpoint", value(info.endpoint()));
        json.add("domain", value(info.domain()));
        json.add("fabric", value(info.fabric()));
        json.add("device", value(info.device()));
        json.add("sourceAddress", value(info.sourceAddress()));
        json.add("destinationAddress", value(info.destinationAddress()));
        return json;
    }

    private static BigInteger unsigned(long mask) { return new BigInteger(Long.toUnsignedString(mask)); }

    static JsonElement value(Object value) {
        return switch (value) {
            case null -> JsonNull.INSTANCE;
            case Number number -> new JsonPrimitive(number);
            case Version version -> new JsonPrimitive(version.toString());
            case Optional<?> optional -> value(optional.orElse(null));
            case OptionalLong optional -> optional.isPresent() ? value(optional.getAsLong()) : JsonNull.INSTANCE;
            case Record record -> components(record);
            case Collection<?> values -> {
                JsonArray array = new JsonArray();
                values.forEach(one -> array.add(value(one)));
                yield array;
            }
            default -> new JsonPrimitive(value.toString());
        };
    }

    private static JsonObject components(Record record) {
        JsonObject json = new JsonObject();
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            try {
                json.add(component.getName(), value(component.getAccessor().invoke(record)));
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e); // public records of an exported package
            }
        }
        return json;
    }
}
