/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The parts of `make bench` that must be fast themselves: the bare store, filling a data directory, and a
 * load of job creations over keep-alive connections. bench.py puts them together.
 *   sluice-bench store DIR SECONDS BATCH   durable writes per second, BATCH of them per commit
 *   sluice-bench fill DIR COUNT            COUNT pending workloads and what they need, straight into a store
 *   sluice-bench load URL COUNT CLIENTS    create COUNT jobs, CLIENTS at a time
 *   sluice-bench cycle                     what one decision of the core costs
 *   sluice-bench topology                  what one placement costs */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "api/json/json.h"
#include "base/check.h"
#include "store/store.h"
#include "tests/bench/cycle_bench.h"
#include "tests/bench/topology_bench.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const struct sl_error *e)
{
    fprintf(stderr, "sluice-bench: %s\n", e->text);
    exit(1);
}

static struct sl_store *open_store(const char *dir)
{
    struct sl_store *store = NULL;
    struct sl_error e;
    sl_error_clear(&e);
    if (sl_store_open(dir, &store, &e) != SL_CODE_OK) {
        die(&e);
    }
    return store;
}

static void stage(struct sl_store *store, enum sl_kind kind, const char *ns, const char *text)
{
    struct sl_error e;
    sl_error_clear(&e);
    struct sl_json *body = sl_json_parse(text, strlen(text), &e);
    struct sl_json *result = NULL;
    if (body == NULL) {
        die(&e);
    }
    struct sl_write w = {.verb = SL_VERB_CREATE, .kind = kind, .ns = ns, .name = "", .body = body};
    if (sl_store_apply(store, &w, &result, &e) != SL_CODE_OK) {
        die(&e);
    }
    sl_json_free(result);
    sl_json_free(body);
}

static void commit(struct sl_store *store)
{
    struct sl_error e;
    sl_error_clear(&e);
    if (sl_store_commit(store, &e) != SL_CODE_OK) {
        die(&e);
    }
}

static void stage_workload(struct sl_store *store, unsigned long i)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"kueue.x-k8s.io/"
             "v1beta2\",\"kind\":\"Workload\",\"metadata\":{\"name\":\"w%lu\","
             "\"namespace\":\"default\"},\"spec\":{\"queueName\":\"main\",\"priority\":%lu,"
             "\"active\":true,\"podSets\":[{"
             "\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
             "\"containers\":[{"
             "\"name\":\"main\",\"image\":\"busybox\",\"resources\":{\"requests\":{\"cpu\":\"%lu\","
             "\"memory\":"
             "\"1Gi\"}}}]}}}]}}",
             i, i % 10, i % 4 + 1);
    stage(store, SL_KIND_WORKLOAD, "default", text);
}

static void bench_store(const char *dir, double seconds, unsigned long batch)
{
    struct sl_store *store = open_store(dir);
    double start = now_s();
    unsigned long count = 0;
    while (now_s() - start < seconds) {
        for (unsigned long i = 0; i < batch; i++) {
            stage_workload(store, count++);
        }
        commit(store);
    }
    printf("%.1f\n", (double)count / (now_s() - start));
    sl_store_close(store);
}

static void fill(const char *dir, unsigned long count)
{
    struct sl_store *store = open_store(dir);
    stage(store, SL_KIND_RESOURCE_FLAVOR, "",
          "{\"apiVersion\":\"kueue.x-k8s.io/"
          "v1beta2\",\"kind\":\"ResourceFlavor\",\"metadata\":{\"name\":\"f\"}}");
    stage(store, SL_KIND_CLUSTER_QUEUE, "",
          "{\"apiVersion\":\"kueue.x-k8s.io/"
          "v1beta2\",\"kind\":\"ClusterQueue\",\"metadata\":{\"name\":\"team\"},"
          "\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{\"coveredResources\":[\"cpu\","
          "\"memory\"],"
          "\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"8\"},"
          "{\"name\":\"memory\",\"nominalQuota\":\"64Gi\"}]}]}]}}");
    stage(store, SL_KIND_LOCAL_QUEUE, "default",
          "{\"apiVersion\":\"kueue.x-k8s.io/"
          "v1beta2\",\"kind\":\"LocalQueue\",\"metadata\":{\"name\":\"main\","
          "\"namespace\":\"default\"},\"spec\":{\"clusterQueue\":\"team\"}}");
    for (unsigned long i = 0; i < count; i++) {
        stage_workload(store, i);
        if (i % 1000 == 999) {
            commit(store);
        }
    }
    commit(store);
    sl_store_close(store);
}

static size_t discard(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

struct request {
    char body[1024];
    CURL *easy;
};

static void next_job(CURLM *multi, struct request *r, unsigned long i)
{
    snprintf(
        r->body, sizeof r->body,
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"b%lu\",\"labels\":{"
        "\"kueue.x-k8s.io/queue-name\":\"main\"},\"annotations\":{\"sluice.dev/"
        "run-for\":\"1ms\"}},\"spec\":{"
        "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\","
        "\"image\":"
        "\"busybox\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}",
        i);
    curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, r->body);
    curl_multi_add_handle(multi, r->easy);
}

/* Creates `count` jobs, keeping `clients` requests in flight; prints creations per second. */
static void load(const char *url, unsigned long count, unsigned long clients)
{
    char target[512];
    snprintf(target, sizeof target, "%s/apis/batch/v1/namespaces/default/jobs", url);
    CURLM *multi = curl_multi_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    struct request *requests = calloc(clients, sizeof *requests);
    SL_ASSERT(requests != NULL);
    unsigned long sent = 0, done = 0, failed = 0;
    double start = now_s();
    for (unsigned long i = 0; i < clients && sent < count; i++) {
        requests[i].easy = curl_easy_init();
        curl_easy_setopt(requests[i].easy, CURLOPT_URL, target);
        curl_easy_setopt(requests[i].easy, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(requests[i].easy, CURLOPT_WRITEFUNCTION, discard);
        curl_easy_setopt(requests[i].easy, CURLOPT_PRIVATE, &requests[i]);
        next_job(multi, &requests[i], sent++);
    }
    while (done < count) {
        int running = 0, left = 0;
        curl_multi_perform(multi, &running);
        for (CURLMsg *m; (m = curl_multi_info_read(multi, &left)) != NULL;) {
            struct request *r = NULL;
            long code = 0;
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &r);
            curl_easy_getinfo(m->easy_handle, CURLINFO_RESPONSE_CODE, &code);
            failed += m->data.result != CURLE_OK || code != 201;
            done++;
            curl_multi_remove_handle(multi, r->easy);
            if (sent < count) {
                next_job(multi, r, sent++);
            }
        }
        curl_multi_poll(multi, NULL, 0, 100, NULL);
    }
    printf("%.1f %lu\n", (double)count / (now_s() - start), failed);
    for (unsigned long i = 0; i < clients; i++) {
        curl_easy_cleanup(requests[i].easy);
    }
    curl_slist_free_all(headers);
    curl_multi_cleanup(multi);
    free(requests);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "store") == 0) {
        bench_store(argv[2], strtod(argv[3], NULL), strtoul(argv[4], NULL, 10));
    } else if (argc == 4 && strcmp(argv[1], "fill") == 0) {
        fill(argv[2], strtoul(argv[3], NULL, 10));
    } else if (argc == 5 && strcmp(argv[1], "load") == 0) {
        load(argv[2], strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    } else if (argc == 2 && strcmp(argv[1], "cycle") == 0) {
        return sl_bench_cycle();
    } else if (argc == 2 && strcmp(argv[1], "topology") == 0) {
        return sl_bench_topology() != 0 ? 1 : sl_bench_topology_preempt();
    } else {
        fprintf(stderr, "usage: sluice-bench store DIR SECONDS BATCH | fill DIR COUNT | load URL "
                        "COUNT CLIENTS | cycle | topology\n");
        return 2;
    }
    return 0;
}
