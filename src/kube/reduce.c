/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Objects are reduced in one pass over their text: the tables of reduce.def are a tree of keys, a
 * value that has no node in it is copied as it is, and one that has is descended into. */
#include "kube/reduce.h"

#include <stdio.h>
#include <string.h>

#include "api/objects/form.h"
#include "base/check.h"

#define NODES_MAX 400
#define DEPTH_MAX 32 /* lists do not go down in the tree: they alone could nest without end */

enum capture { CAPTURE_NONE, CAPTURE_NAME, CAPTURE_NS, CAPTURE_UID, CAPTURE_VERSION, CAPTURES };
enum table {
    TABLE_ANY,
    TABLE_NODE,
    TABLE_POD,
    TABLE_POD_STATUS,
    TABLE_FOREIGN,
    TABLE_FOREIGN_JOB,
    TABLE_OWNER,
    TABLES
};
enum tree {
    TREE_ANY,
    TREE_NODE,
    TREE_POD,
    TREE_QUEUED_POD,
    TREE_FOREIGN_POD,
    TREE_FOREIGN_JOB,
    TREE_OWNER,
    TREES
};

/* A key on the way to what is left out; siblings and children are indexes, 0 = none. */
struct node {
    const char *key;
    size_t key_len;
    unsigned sibling, child;
    bool drop;
    enum capture capture;
};

static struct node nodes[NODES_MAX]; /* the first TREES are the roots */
static unsigned node_count;          /* 0: not made yet */

struct drop {
    enum table table;
    const char *path;
};
static const struct drop drops[] = {
#define SL_DROP(table, path) {TABLE_##table, path},
#include "kube/reduce.def"
#undef SL_DROP
};

static unsigned child_of(unsigned parent, const char *key, size_t key_len)
{
    for (unsigned i = nodes[parent].child; i != 0; i = nodes[i].sibling) {
        if (nodes[i].key_len == key_len && memcmp(nodes[i].key, key, key_len) == 0) {
            return i;
        }
    }
    return 0;
}

static struct node *make(enum tree tree, const char *path)
{
    unsigned at = tree;
    while (*path != '\0') {
        size_t len = strcspn(path, ">");
        unsigned next = child_of(at, path, len);
        if (next == 0) {
            SL_ASSERT(node_count < NODES_MAX);
            next = node_count++;
            nodes[next] = (struct node){.key = path, .key_len = len, .sibling = nodes[at].child};
            nodes[at].child = next;
        }
        at = next;
        path += len + (path[len] == '>');
    }
    return &nodes[at];
}

static bool holds(enum tree tree, enum table table)
{
    switch (table) {
    case TABLE_NODE:
        return tree == TREE_NODE;
    case TABLE_POD:
        return tree == TREE_POD || tree == TREE_FOREIGN_POD;
    case TABLE_POD_STATUS:
        return tree == TREE_POD || tree == TREE_QUEUED_POD || tree == TREE_FOREIGN_POD;
    case TABLE_FOREIGN:
        return tree == TREE_FOREIGN_POD || tree == TREE_FOREIGN_JOB;
    case TABLE_FOREIGN_JOB:
        return tree == TREE_FOREIGN_JOB;
    case TABLE_OWNER:
        return tree == TREE_OWNER;
    case TABLE_ANY:
    case TABLES:
        break;
    }
    return true;
}

static void make_trees(void)
{
    node_count = TREES;
    for (enum tree tree = TREE_ANY; tree < TREES; tree++) {
        /* Ours come first in what is kept, because the items of a list have none. */
        make(tree, "apiVersion")->drop = true;
        make(tree, "kind")->drop = true;
        make(tree, "metadata>name")->capture = CAPTURE_NAME;
        make(tree, "metadata>namespace")->capture = CAPTURE_NS;
        make(tree, "metadata>uid")->capture = CAPTURE_UID;
        make(tree, "metadata>resourceVersion")->capture = CAPTURE_VERSION;
        for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++) {
            if (holds(tree, drops[i].table)) {
                make(tree, drops[i].path)->drop = true;
            }
        }
    }
}

struct reducing {
    const char *end;
    struct sl_buf *out;
    struct sl_span captured[CAPTURES];
    int depth;
};

static const char *reduce_value(struct reducing *r, const char *at, unsigned node);

static const char *copy_value(struct reducing *r, const char *at)
{
    const char *after = sl_scan_skip(at, r->end);
    if (after != NULL) {
        sl_buf_add(r->out, at, (size_t)(after - at));
    }
    return after;
}

/* The member whose key begins at `at`. *kept: is there one before it; is there one now? */
static const char *reduce_member(struct reducing *r, const char *at, unsigned node, bool *kept)
{
    const char *key_end = *at == '"' ? sl_scan_skip(at, r->end) : NULL;
    const char *colon = key_end == NULL ? NULL : sl_scan_blank(key_end, r->end);
    if (colon == NULL || colon == r->end || *colon != ':') {
        return NULL;
    }
    unsigned child = child_of(node, at + 1, (size_t)(key_end - at) - 2);
    const char *value = sl_scan_blank(colon + 1, r->end);
    if (child != 0 && nodes[child].drop) {
        return sl_scan_skip(value, r->end);
    }
    if (*kept) {
        sl_buf_add(r->out, ",", 1);
    }
    *kept = true;
    sl_buf_add(r->out, at, (size_t)(key_end - at));
    sl_buf_add(r->out, ":", 1);
    const char *after = reduce_value(r, value, child);
    if (after != NULL && child != 0 && nodes[child].capture != CAPTURE_NONE) {
        r->captured[nodes[child].capture] =
            sl_span_text((struct sl_span){value, (size_t)(after - value)});
    }
    return after;
}

/* Behind a member or an item, and behind the comma if there is one. */
static const char *next(const struct reducing *r, const char *at)
{
    at = at == NULL ? r->end : sl_scan_blank(at, r->end);
    return at < r->end && *at == ',' ? sl_scan_blank(at + 1, r->end) : at;
}

/* `at` is behind the opening bracket, the answer behind the closing one. `kept`: is there a member already? */
static const char *reduce_members(struct reducing *r, const char *at, unsigned node, bool kept)
{
    at = sl_scan_blank(at, r->end);
    while (at < r->end && *at != '}') {
        at = next(r, reduce_member(r, at, node, &kept));
    }
    sl_buf_add(r->out, "}", 1);
    return at < r->end ? at + 1 : NULL;
}

static const char *reduce_items(struct reducing *r, const char *at, unsigned node)
{
    const char *first = sl_scan_blank(at, r->end);
    for (at = first; at < r->end && *at != ']'; at = next(r, reduce_value(r, at, node))) {
        sl_buf_add(r->out, ",", at == first ? 0 : 1);
    }
    sl_buf_add(r->out, "]", 1);
    return at < r->end ? at + 1 : NULL;
}

static const char *reduce_value(struct reducing *r, const char *at, unsigned node)
{
    at = sl_scan_blank(at, r->end);
    if (node == 0 || nodes[node].child == 0 || at == r->end || (*at != '{' && *at != '[')) {
        return copy_value(r, at);
    }
    if (r->depth == DEPTH_MAX) {
        return NULL;
    }
    r->depth++;
    sl_buf_add(r->out, at, 1);
    const char *after =
        *at == '{' ? reduce_members(r, at + 1, node, false) : reduce_items(r, at + 1, node);
    r->depth--;
    return after;
}

/* Does Sluice make a Workload of it? Then its spec is copied. */
static bool is_queued(struct sl_span pod)
{
    static const char *const labels[] = {"\"kueue.x-k8s.io/managed\"",
                                         "\"kueue.x-k8s.io/queue-name\"",
                                         "\"kueue.x-k8s.io/pod-group-name\""};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        if (memmem(pod.at, pod.len, labels[i], strlen(labels[i])) != NULL) {
            return true;
        }
    }
    return false;
}

/* It has no label, annotation, gate or finalizer of Kueue's. A Job that was started by us has a
 * mark in its template; one that lost its queue before holds nothing. */
static bool is_foreign(struct sl_span source)
{
    static const char mark[] = "kueue.x-k8s.io/";
    return memmem(source.at, source.len, mark, sizeof mark - 1) == NULL;
}

static enum tree tree_of(enum sl_kind kind, struct sl_span source, bool all_jobs)
{
    switch (kind) {
    case SL_KIND_NODE:
        return TREE_NODE;
    case SL_KIND_POD:
        return is_foreign(source)  ? TREE_FOREIGN_POD
               : is_queued(source) ? TREE_QUEUED_POD
                                   : TREE_POD;
    case SL_KIND_JOB:
        return !all_jobs && is_foreign(source) ? TREE_FOREIGN_JOB : TREE_ANY;
    default:
        return sl_kind_info(kind)->by_name ? TREE_OWNER : TREE_ANY;
    }
}

/* What identifies the object, into `item`. */
static bool identify(const struct reducing *r, struct sl_item *item)
{
    const struct sl_span *name = &r->captured[CAPTURE_NAME];
    const struct sl_span *ns = &r->captured[CAPTURE_NS];
    const struct sl_span *uid = &r->captured[CAPTURE_UID];
    item->version = sl_span_number(r->captured[CAPTURE_VERSION]);
    if (name->at == NULL || name->len == 0 || item->version == 0 ||
        name->len + ns->len + 2 > sizeof item->key || uid->len >= sizeof item->uid) {
        return false;
    }
    (void)snprintf(item->key, sizeof item->key, "%.*s/%.*s", (int)ns->len,
                   ns->at == NULL ? "" : ns->at, (int)name->len, name->at);
    (void)snprintf(item->uid, sizeof item->uid, "%.*s", (int)uid->len,
                   uid->at == NULL ? "" : uid->at);
    return true;
}

enum sl_code sl_item_reduce(struct sl_item *item, enum sl_kind kind, struct sl_span source,
                            struct sl_error *e)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_span given = source.at == NULL ? (struct sl_span){"", 0} : source;
    struct reducing r = {.end = given.at + given.len, .out = &item->text};
    if (node_count == 0) {
        make_trees();
    }
    sl_json_free(item->object);
    item->object = NULL;
    item->kind = kind;
    sl_buf_reset(&item->text);
    sl_buf_print(&item->text, "{\"apiVersion\":\"%s\",\"kind\":\"%s\"", info->api_version,
                 info->kind);
    const char *at = sl_scan_blank(given.at, r.end);
    bool fine = at != r.end && *at == '{' &&
                reduce_members(&r, at + 1, tree_of(kind, given, item->all_jobs), true) != NULL;
    if (!fine || !identify(&r, item)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "the server sent a %s that cannot be read: %.100s", info->kind,
                            given.len == 0 ? "" : item->text.data);
    }
    return SL_CODE_OK;
}

struct sl_json *sl_item_read(enum sl_kind kind, const char *text, size_t len, struct sl_error *e)
{
    struct sl_json *o = sl_json_parse_received(text, len, e);
    const char *wrong = o == NULL ? NULL : sl_object_misformed(kind, o);
    if (wrong != NULL) {
        sl_error_set(e, SL_CODE_BAD_REQUEST, "its member \"%s\" is of another type", wrong);
        sl_json_free(o);
        o = NULL;
    }
    return o;
}

struct sl_json *sl_item_object(struct sl_item *item)
{
    SL_PRE(item != NULL);
    if (item->object == NULL) {
        struct sl_error e = {0};
        item->object = sl_item_read(item->kind, item->text.data, item->text.len, &e);
    }
    return item->object;
}

void sl_item_fini(struct sl_item *item)
{
    SL_PRE(item != NULL);
    sl_json_free(item->object);
    sl_buf_fini(&item->text);
    *item = (struct sl_item){.all_jobs = item->all_jobs};
}
