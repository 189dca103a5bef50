/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Writes a dashboard as Grafana imports it, with one variable for the data source and one for the instances. */
final class GrafanaJson {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WIDTH = 12;
    private static final int HEIGHT = 8;

    private GrafanaJson() {}

    static String of(Panels.Dashboard dashboard) throws JsonProcessingException {
        ObjectNode root = JSON.createObjectNode();
        root.put("uid", "tierlog-" + dashboard.name()).put("title", dashboard.title()).put("schemaVersion", 39).put("editable", true)
                .put("refresh", "10s").put("timezone", "browser");
        root.putArray("tags").add("tierlog");
        root.putObject("time").put("from", "now-1h").put("to", "now");
        ArrayNode variables = root.putObject("templating").putArray("list");
        variables.addObject().put("name", "datasource").put("type", "datasource").put("query", "prometheus").put("label", "Data source");
        ObjectNode instance = variables.addObject();
        instance.put("name", "instance").put("type", "query").put("label", "Instance").put("multi", true).put("includeAll", true)
                .put("allValue", ".*").put("refresh", 2).put("query", "label_values(up{job=~\"" + dashboard.job() + "\"}, instance)");
        instance.putObject("current").put("text", "All").put("value", "$__all");
        source(instance.putObject("datasource"));
        ArrayNode panels = root.putArray("panels");
        int id = 0;
        for (Panels.Panel panel : dashboard.panels()) {
            ObjectNode one = panels.addObject();
            one.put("id", id + 1).put("type", "timeseries").put("title", panel.title());
            source(one.putObject("datasource"));
            one.putObject("gridPos").put("x", id % 2 * WIDTH).put("y", id / 2 * HEIGHT).put("w", WIDTH).put("h", HEIGHT);
            ObjectNode field = one.putObject("fieldConfig");
            field.putObject("defaults").put("unit", panel.unit()).put("min", 0);
            field.putArray("overrides");
            ObjectNode target = one.putArray("targets").addObject();
            target.put("refId", "A").put("expr", panel.query()).put("legendFormat", panel.legend());
            source(target.putObject("datasource"));
            id++;
        }
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
    }

    private static void source(ObjectNode at) {
        at.put("type", "prometheus").put("uid", "${datasource}");
    }
}
