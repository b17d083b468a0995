/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Functions of <string.h> for which Eva has a contract only, which says too little where a text ends: as loops, which
 * read every byte that the standard lets them read. A text without an end is an alarm in here. */
#include <stddef.h>
#include <string.h>

static int is_one_of(char c, const char *set)
{
    for (; *set != '\0'; set++) {
        if (*set == c) {
            return 1;
        }
    }
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n] != '\0') {
        n++;
    }
    return n;
}

size_t strnlen(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n] != '\0') {
        n++;
    }
    return n;
}

char *strchr(const char *s, int c)
{
    for (; *s != (char)c; s++) {
        if (*s == '\0') {
            return NULL;
        }
    }
    return (char *)s;
}

char *strrchr(const char *s, int c)
{
    const char *last = NULL;
    for (; *s != '\0'; s++) {
        if (*s == (char)c) {
            last = s;
        }
    }
    return (char *)last;
}

void *memchr(const void *s, int c, size_t n)
{
    const char *at = s;
    for (size_t i = 0; i < n; i++) {
        if (at[i] == (char)c) {
            return (void *)(at + i);
        }
    }
    return NULL;
}

size_t strspn(const char *s, const char *accept)
{
    size_t n = 0;
    while (s[n] != '\0' && is_one_of(s[n], accept)) {
        n++;
    }
    return n;
}

size_t strcspn(const char *s, const char *reject)
{
    size_t n = 0;
    while (s[n] != '\0' && !is_one_of(s[n], reject)) {
        n++;
    }
    return n;
}

int strcmp(const char *a, const char *b)
{
    while (*a == *b && *a != '\0') {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n > 0; n--, a++, b++) {
        if (*a != *b || *a == '\0') {
            return (unsigned char)*a - (unsigned char)*b;
        }
    }
    return 0;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;
    int answer = 0;
    for (size_t i = 0; i < n; i++) { /* all of them: both have to be that long */
        answer = answer != 0 ? answer : p[i] - q[i];
    }
    return answer;
}

char *strtok_r(char *s, const char *delimiters, char **rest)
{
    s = s == NULL ? *rest : s;
    s += strspn(s, delimiters);
    if (*s == '\0') {
        *rest = s;
        return NULL;
    }
    char *end = s + strcspn(s, delimiters);
    if (*end != '\0') {
        *end++ = '\0';
    }
    *rest = end;
    return s;
}

char *strstr(const char *s, const char *wanted)
{
    for (;; s++) {
        size_t n = 0;
        while (wanted[n] != '\0' && s[n] == wanted[n]) {
            n++;
        }
        if (wanted[n] == '\0') {
            return (char *)s;
        }
        if (*s == '\0') {
            return NULL;
        }
    }
}
