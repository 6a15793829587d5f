package io.ofi4j.command.top;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.ofi4j.info.OpenObjectsMXBean.OpenDomain;
import io.ofi4j.info.OpenObjectsMXBean.OpenEndpoint;
import io.ofi4j.info.OpenObjectsMXBean.OpenQueue;
import java.util.List;

/** The same as the table, under the names that the library's statistics have. */
final class TopJson {
    private static final Gson GSON = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

    private TopJson() {}

    static String of(List<Jvms.Jvm> jvms) { return GSON.toJson(jvms); }

    static String of(long pid, String command, Sample sample, Sample.Rates rates) {
        JsonObject json = new JsonObject();
        json.addProperty("pid", pid);
        json.addProperty("command", command);
        json.addProperty("libfabric", sample.libfabric());
        json.addProperty("seconds", rates.seconds());
        JsonArray domains = new JsonArray();
        sample.domains().forEach(domain -> domains.add(of(domain, rates)));
        json.add("domains", domains);
        return GSON.toJson(json);
    }

    private static JsonElement of(OpenDomain domain, Sample.Rates rates) {
        JsonObject json = GSON.toJsonTree(domain.statistics()).getAsJsonObject();
        json.addProperty("id", domain.id());
        json.addProperty("provider", domain.provider());
        json.addProperty("fabric", domain.fabric());
        json.addProperty("name", domain.name());
        json.addProperty("threading", domain.threading());
        JsonArray queues = new JsonArray();
        domain.queues().forEach(queue -> queues.add(of(queue, rates)));
        json.add("queues", queues);
        JsonArray endpoints = new JsonArray();
        domain.endpoints().forEach(endpoint -> endpoints.add(of(endpoint, rates)));
        json.add("endpoints", endpoints);
        return json;
    }

    private static JsonElement of(OpenQueue queue, Sample.Rates rates) {
        JsonObject json = GSON.toJsonTree(queue.statistics()).getAsJsonObject();
        json.addProperty("id", queue.id());
        json.addProperty("size", queue.size());
        json.addProperty("completedPerSecond", rates.of(queue, one -> one.statistics().completed()));
        json.addProperty("timesFullPerSecond", rates.of(queue, one -> one.statistics().timesFull()));
        return json;
    }

    private static JsonElement of(OpenEndpoint endpoint, Sample.Rates rates) {
        JsonObject json = GSON.toJsonTree(endpoint.statistics()).getAsJsonObject();
        json.addProperty("id", endpoint.id());
        json.addProperty("type", endpoint.type());
        json.add("queues", GSON.toJsonTree(endpoint.queues()));
        json.addProperty("timesFullPerSecond", rates.of(endpoint, one -> one.statistics().timesFull()));
        json.addProperty("slowPostsPerSecond", rates.of(endpoint, one -> one.statistics().slowPosts()));
        return json;
    }
}
