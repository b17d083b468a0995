/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The syntax of names, label keys and values, as Kubernetes asks for it. */
#include "api/objects/format.h"

#include <ctype.h>
#include <string.h>

#define LABEL_MAX 63u
#define SUBDOMAIN_MAX 253u

static bool lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool letter_or_digit(char c)
{
    return lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* One DNS label of `len` bytes, its length apart. */
static bool dns_part(const char *text, size_t len)
{
    if (len == 0 || !lower_or_digit(text[0]) || !lower_or_digit(text[len - 1])) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!lower_or_digit(text[i]) && text[i] != '-') {
            return false;
        }
    }
    return true;
}

static const char *dns_label(const char *text)
{
    if (strlen(text) > LABEL_MAX) {
        return "must be no more than 63 characters";
    }
    return dns_part(text, strlen(text)) ? NULL
                                        : "a lowercase RFC 1123 label must consist of lower case "
                                          "letters, digits or '-', and must "
                                          "start and end with a letter or digit";
}

static bool subdomain_syntax(const char *text, size_t len)
{
    size_t start = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i == len || text[i] == '.') {
            if (!dns_part(text + start, i - start)) {
                return false;
            }
            start = i + 1;
        }
    }
    return true;
}

static const char *dns_subdomain(const char *text)
{
    size_t len = strlen(text);
    if (len > SUBDOMAIN_MAX) {
        return "must be no more than 253 characters";
    }
    return subdomain_syntax(text, len) ? NULL
                                       : "a lowercase RFC 1123 subdomain must consist of lower "
                                         "case letters, digits, '-' or '.', "
                                         "and must start and end with a letter or digit";
}

/* The name of a label key, or a label value that is not empty. */
static bool name_syntax(const char *text, size_t len)
{
    if (len == 0 || !letter_or_digit(text[0]) || !letter_or_digit(text[len - 1])) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!letter_or_digit(text[i]) && text[i] != '-' && text[i] != '_' && text[i] != '.') {
            return false;
        }
    }
    return true;
}

static const char *label_key(const char *text)
{
    const char *slash = strchr(text, '/');
    const char *name = slash != NULL ? slash + 1 : text;
    if (slash != NULL) {
        size_t len = (size_t)(slash - text);
        if (len == 0 || len > SUBDOMAIN_MAX || !subdomain_syntax(text, len)) {
            return "the prefix before '/' must be a DNS subdomain of at most 253 characters";
        }
    }
    if (strlen(name) > LABEL_MAX) {
        return "the name part must be no more than 63 characters";
    }
    return name_syntax(name, strlen(name)) ? NULL
                                           : "the name part must consist of letters, digits, '-', "
                                             "'_' or '.', and must start and end "
                                             "with a letter or digit";
}

static const char *label_value(const char *text)
{
    if (strlen(text) > LABEL_MAX) {
        return "must be no more than 63 characters";
    }
    return *text == '\0' || name_syntax(text, strlen(text))
               ? NULL
               : "a label value must be empty or consist of letters, digits, '-', '_' or '.', and "
                 "must "
                 "start and end with a letter or digit";
}

static const char *condition_reason(const char *text)
{
    size_t len = strlen(text);
    bool fine = len > 0 && isalpha((unsigned char)text[0]) &&
                (letter_or_digit(text[len - 1]) || text[len - 1] == '_');
    for (size_t i = 0; fine && i < len; i++) {
        fine = letter_or_digit(text[i]) || strchr("_,:", text[i]) != NULL;
    }
    return fine ? NULL
                : "a reason must consist of letters, digits, '_', ',' or ':', start with a letter "
                  "and not "
                  "end with ',' or ':'";
}

/* It may become the name of a file. */
static const char *data_key(const char *text)
{
    if (strlen(text) > SUBDOMAIN_MAX) {
        return "must be no more than 253 characters";
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (!letter_or_digit(*c) && strchr("-_.", *c) == NULL) {
            return "a key must consist of letters, digits, '-', '_' or '.'";
        }
    }
    if (text[0] == '\0' || strcmp(text, ".") == 0 || strncmp(text, "..", 2) == 0) {
        return "a key must not be empty or \".\", nor begin with \"..\"";
    }
    return NULL;
}

const char *sl_format_check(enum sl_pattern pattern, const char *text)
{
    switch (pattern) {
    case SL_PATTERN_DNS_LABEL:
        return dns_label(text);
    case SL_PATTERN_DNS_SUBDOMAIN:
        return dns_subdomain(text);
    case SL_PATTERN_LABEL_KEY:
        return label_key(text);
    case SL_PATTERN_LABEL_VALUE:
        return label_value(text);
    case SL_PATTERN_DATA_KEY:
        return data_key(text);
    case SL_PATTERN_REASON:
        return condition_reason(text);
    case SL_PATTERN_NONE:
        break;
    }
    return NULL;
}
