/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Names of images: [REGISTRY[:PORT]/]NAME[/NAME...][:TAG][@ALGORITHM:DIGEST]. Runtimes know more, such as dir:PATH, which reads files
 * with their own rights. */
#include "runner/runtime.h"
#include "base/check.h"
#include <string.h>

#define IMAGE_BYTES_MAX 512u
#define TAG_BYTES_MAX 128u
#define DIGEST_BYTES_MIN 32u
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

struct span {
    const char *at;
    size_t length;
};

static bool made_of(struct span s, const char *set)
{
    return s.length > 0 && strspn(s.at, set) >= s.length;
}

static bool is(struct span s, const char *text)
{
    return strlen(text) == s.length && memcmp(s.at, text, s.length) == 0;
}

/* What follows the last such byte is cut off the span; an empty result with at == NULL: there is none. */
static struct span cut_after(struct span *s, char c)
{
    for (size_t i = s->length; i > 0; i--) {
        if (s->at[i - 1] == c) {
            struct span rest = {s->at + i, s->length - i};
            s->length = i - 1;
            return rest;
        }
    }
    return (struct span){NULL, 0};
}

static bool digest_good(struct span digest)
{
    struct span algorithm = digest;
    struct span value = cut_after(&algorithm, ':');
    return value.at != NULL && value.length >= DIGEST_BYTES_MIN &&
           made_of(value, DIGITS "abcdef") && made_of(algorithm, LOWER DIGITS "+._-");
}

static bool tag_good(struct span tag)
{
    return tag.length <= TAG_BYTES_MAX && made_of(tag, LOWER UPPER DIGITS "_.-") &&
           tag.at[0] != '.' && tag.at[0] != '-';
}

static bool has_alnum_ends(struct span s)
{
    const char *set = LOWER UPPER DIGITS;
    return strchr(set, s.at[0]) != NULL && strchr(set, s.at[s.length - 1]) != NULL;
}

/* A registry: by its dots, its port, or as localhost. With a port but without dots it could be a word as in dir:5/etc. */
static bool registry_good(struct span registry)
{
    struct span port = cut_after(&registry, ':');
    bool named = is(registry, "localhost") || memchr(registry.at, '.', registry.length) != NULL;
    return named && made_of(registry, LOWER UPPER DIGITS ".-") && has_alnum_ends(registry) &&
           (port.at == NULL || (port.length <= 5 && made_of(port, DIGITS)));
}

static bool name_good(struct span name)
{
    return made_of(name, LOWER DIGITS "._-") && has_alnum_ends(name);
}

/* NAME:TAG alone, where NAME is how runtimes say where else an image is read from. */
static bool is_transport(struct span name)
{
    static const char *const words[] = {
        "atomic", "containers-storage", "dir",    "docker", "docker-archive", "docker-daemon",
        "oci",    "oci-archive",        "ostree", "sif",    "tarball"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is(name, words[i])) {
            return true;
        }
    }
    return false;
}

/* Its names, the first of which may be a registry. */
static bool path_good(struct span path)
{
    for (bool first = true; path.at != NULL; first = false) {
        const char *slash = memchr(path.at, '/', path.length);
        struct span part = {path.at, slash == NULL ? path.length : (size_t)(slash - path.at)};
        bool good =
            part.length > 0 && (name_good(part) || (first && slash != NULL && registry_good(part)));
        if (!good) {
            return false;
        }
        path.length -= part.length + (slash != NULL);
        path.at = slash == NULL ? NULL : slash + 1;
    }
    return true;
}

const char *sl_image_objection(const char *image)
{
    SL_PRE(image != NULL);
    struct span rest = {image, strlen(image)};
    if (rest.length == 0) {
        return "is needed where pods are containers";
    }
    if (rest.length > IMAGE_BYTES_MAX) {
        return "is longer than 512 bytes";
    }
    struct span digest = cut_after(&rest, '@');
    const char *slash = memrchr(rest.at, '/', rest.length);
    const char *colon = memrchr(rest.at, ':', rest.length);
    bool tagged = colon != NULL && (slash == NULL || colon > slash);
    struct span tag = tagged ? cut_after(&rest, ':') : (struct span){NULL, 0};
    if ((digest.at != NULL && !digest_good(digest)) || (tagged && !tag_good(tag)) ||
        !path_good(rest) || (tagged && slash == NULL && is_transport(rest))) {
        return "is not the name of an image, as in registry.example/team/image:tag";
    }
    return NULL;
}

const char *sl_image_pull_policy(const char *image)
{
    SL_PRE(image != NULL);
    struct span rest = {image, strlen(image)};
    if (memchr(image, '@', rest.length) != NULL) {
        return "IfNotPresent";
    }
    struct span tag = cut_after(&rest, ':');
    bool tagged = tag.at != NULL && memchr(tag.at, '/', tag.length) == NULL;
    return !tagged || is(tag, "latest") ? "Always" : "IfNotPresent";
}
