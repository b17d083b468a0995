/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* OpenAPI of the Visibility API: the API server merges it into its own, kubectl explain reads it. Both versions of
 * the format say the same with other words around it. */
#include "cli/common/version.h"
#include "cli/pages/visibility.h"
#include <string.h>

struct format {
    bool v3;
    const char *references; /* where schemas are */
};
static const struct format formats[] = {{false, "#/definitions/"}, {true, "#/components/schemas/"}};

#define MODEL "io.k8s.kueue.visibility."
#define INFO "\"info\":{\"title\":\"Sluice visibility\",\"version\":\"" SL_VERSION "\"}"

/* What `start=true` adds: its start, how certain it is, and on what it rests. */
static void print_foreseen(struct sl_buf *out)
{
    sl_buf_text(
        out,
        "\"foreseen\":{\"type\":\"object\",\"description\":\"When it is expected to start, with "
        "start=true only; Sluice only.\",\"properties\":{"
        "\"start\":{\"type\":\"string\",\"format\":\"date-time\",\"description\":\"Missing when it "
        "is not known.\"},"
        "\"waitMilliseconds\":{\"type\":\"integer\",\"format\":\"int64\",\"description\":\"From "
        "now "
        "to then.\"},"
        "\"certainty\":{\"type\":\"string\",\"enum\":[\"Exact\",\"Latest\",\"Estimate\","
        "\"Unknown\"],\"description\":\"Exact: as long as nothing else comes; Latest: it starts by "
        "then; "
        "Estimate: from observed run times.\"},"
        "\"basis\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"What the "
        "run times of those before it are taken from.\"},"
        "\"reason\":{\"type\":\"string\",\"description\":\"Why no start is known.\"},"
        "\"notBefore\":{\"type\":\"string\",\"format\":\"date-time\",\"description\":\"It does not "
        "start before; how far was looked.\"}}}}},");
}

static void print_schemas(struct sl_buf *out, const struct format *f, const char *version)
{
    static const char text[] = "{\"type\":\"string\"}";
    sl_buf_print(
        out,
        "\"" MODEL "%s.PendingWorkload\":{\"type\":\"object\",\"description\":\"A workload that "
        "waits, and where.\",\"required\":[\"priority\",\"localQueueName\","
        "\"positionInClusterQueue\",\"positionInLocalQueue\"],\"properties\":{"
        "\"metadata\":{\"type\":\"object\",\"properties\":{\"name\":%s,\"namespace\":%s,"
        "\"creationTimestamp\":{\"type\":\"string\",\"format\":\"date-time\"},"
        "\"ownerReferences\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"apiVersion\":%s,\"kind\":%s,\"name\":%s,\"uid\":%s}}}}},",
        version, text, text, text, text, text, text);
    sl_buf_print(out,
                 "\"priority\":{\"type\":\"integer\",\"format\":\"int32\",\"description\":\"The "
                 "workload's priority.\"},\"localQueueName\":{\"type\":\"string\","
                 "\"description\":\"The LocalQueue it was submitted to.\"},"
                 "\"positionInClusterQueue\":{\"type\":\"integer\",\"format\":\"int32\","
                 "\"description\":\"From 0.\"},\"positionInLocalQueue\":{\"type\":\"integer\","
                 "\"format\":\"int32\",\"description\":\"From 0.\"},"
                 "\"place\":{\"type\":\"string\",\"description\":\"What it waits in; Sluice "
                 "only.\"},\"reason\":{\"type\":\"string\",\"description\":\"Why it waits; Sluice "
                 "only.\"},\"message\":{\"type\":\"string\",\"description\":\"The same as a "
                 "sentence; Sluice only.\"},");
    print_foreseen(out);
    sl_buf_print(
        out,
        "\"" MODEL "%s.PendingWorkloadsSummary\":{\"type\":\"object\",\"description\":\"Pending "
        "workloads of a queue in the order in which they would be tried.\",\"required\":["
        "\"items\"],\"properties\":{\"apiVersion\":%s,\"kind\":%s,\"metadata\":{\"type\":"
        "\"object\"},\"items\":{\"type\":\"array\",\"items\":{\"$ref\":\"%s" MODEL
        "%s.PendingWorkload\"}}},\"x-kubernetes-group-version-kind\":[{\"group\":"
        "\"" SL_VISIBILITY_GROUP "\",\"version\":\"%s\",\"kind\":\"PendingWorkloadsSummary\"}]}",
        version, text, text, f->references, version, version);
}

static void print_parameter(struct sl_buf *out, const struct format *f, const char *name,
                            const char *description)
{
    bool start = strcmp(name, "start") == 0;
    bool query = start || strcmp(name, "limit") == 0 || strcmp(name, "offset") == 0;
    const char *type = start   ? "\"type\":\"boolean\""
                       : query ? "\"type\":\"integer\""
                               : "\"type\":\"string\"";
    sl_buf_print(out, "{\"name\":\"%s\",\"in\":\"%s\",\"description\":\"%s\"%s,", name,
                 query ? "query" : "path", description, query ? "" : ",\"required\":true");
    sl_buf_print(out, "%s%s%s}", f->v3 ? "\"schema\":{" : "", type, f->v3 ? "}" : "");
}

static void print_path(struct sl_buf *out, const struct format *f, const char *version, bool local)
{
    const char *queue = local ? "LocalQueue" : "ClusterQueue";
    sl_buf_print(out, "\"" SL_VISIBILITY_GROUP_PATH "/%s/%s/{name}/pendingworkloads\":{\"get\":{",
                 version, local ? "namespaces/{namespace}/localqueues" : "clusterqueues");
    sl_buf_print(out,
                 "\"description\":\"what waits in a %s\",\"operationId\":\"read%s%s%s"
                 "Pendingworkloads\",\"tags\":[\"visibilityKueue_%s\"],%s\"parameters\":[",
                 queue, strcmp(version, "v1beta1") == 0 ? "VisibilityV1beta1" : "VisibilityV1beta2",
                 local ? "Namespaced" : "", queue, version,
                 f->v3 ? "" : "\"produces\":[\"application/json\"],");
    print_parameter(out, f, "limit", "how many at most; 1000 if it is not said");
    sl_buf_text(out, ",");
    print_parameter(out, f, "offset", "how many of the first to pass over");
    sl_buf_text(out, ",");
    print_parameter(out, f, "start", "whether to say when each is expected to start; Sluice only");
    sl_buf_text(out, ",");
    print_parameter(out, f, "name", "of the queue");
    if (local) {
        sl_buf_text(out, ",");
        print_parameter(out, f, "namespace", "of the queue");
    }
    sl_buf_print(
        out,
        "],\"responses\":{\"200\":{\"description\":\"OK\",%s\"schema\":{\"$ref\":\"%s" MODEL
        "%s.PendingWorkloadsSummary\"}%s}},"
        "\"x-kubernetes-action\":\"get\",\"x-kubernetes-group-version-kind\":{"
        "\"group\":\"" SL_VISIBILITY_GROUP "\",\"version\":\"%s\",\"kind\":"
        "\"PendingWorkloadsSummary\"}}}",
        f->v3 ? "\"content\":{\"application/json\":{" : "", f->references, version,
        f->v3 ? "}}" : "", version);
}

static void print_paths(struct sl_buf *out, const struct format *f, const char *version)
{
    print_path(out, f, version, false);
    sl_buf_text(out, ",");
    print_path(out, f, version, true);
}

static void print_v2(struct sl_buf *out)
{
    sl_buf_text(out, "{\"swagger\":\"2.0\"," INFO ",\"paths\":{");
    for (const char *const *v = sl_visibility_versions; *v != NULL; v++) {
        sl_buf_text(out, v == sl_visibility_versions ? "" : ",");
        print_paths(out, &formats[0], *v);
    }
    sl_buf_text(out, "},\"definitions\":{");
    for (const char *const *v = sl_visibility_versions; *v != NULL; v++) {
        sl_buf_text(out, v == sl_visibility_versions ? "" : ",");
        print_schemas(out, &formats[0], *v);
    }
    sl_buf_text(out, "}}");
}

static void print_v3_index(struct sl_buf *out)
{
    sl_buf_text(out, "{\"paths\":{");
    for (const char *const *v = sl_visibility_versions; *v != NULL; v++) {
        sl_buf_print(out,
                     "%s\"apis/" SL_VISIBILITY_GROUP "/%s\":{\"serverRelativeURL\":"
                     "\"/openapi/v3/apis/" SL_VISIBILITY_GROUP "/%s\"}",
                     v == sl_visibility_versions ? "" : ",", *v, *v);
    }
    sl_buf_text(out, "}}");
}

static void print_v3(struct sl_buf *out, const char *version)
{
    sl_buf_text(out, "{\"openapi\":\"3.0.0\"," INFO ",\"paths\":{");
    print_paths(out, &formats[1], version);
    sl_buf_text(out, "},\"components\":{\"schemas\":{");
    print_schemas(out, &formats[1], version);
    sl_buf_text(out, "}}}");
}

void sl_visibility_openapi(void *context, const char *path, const char *query,
                           struct sl_server_page *page)
{
    static const char prefix[] = "/openapi/v3" SL_VISIBILITY_GROUP_PATH "/";
    (void)context;
    (void)query;
    if (strcmp(path, "/openapi/v2") == 0) {
        print_v2(&page->body);
        return;
    }
    if (strcmp(path, "/openapi/v3") == 0) {
        print_v3_index(&page->body);
        return;
    }
    for (const char *const *v = sl_visibility_versions; *v != NULL; v++) {
        if (strncmp(path, prefix, strlen(prefix)) == 0 && strcmp(path + strlen(prefix), *v) == 0) {
            print_v3(&page->body, *v);
            return;
        }
    }
    sl_visibility_not_found(page);
}
