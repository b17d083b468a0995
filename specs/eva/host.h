/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Read before every file that Eva looks at. From the answer of a function Eva learns nothing of the bytes that it
 * looked at, and its own models of these ones say too little where a text ends: libc.c has them as loops, which read
 * every byte that the standard lets them read. */
#ifndef SL_SPECS_EVA_HOST_H
#define SL_SPECS_EVA_HOST_H
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h> /* all that speak of these functions in their contracts come first */
#define isdigit(c) ((c) >= '0' && (c) <= '9')
#define isspace(c) ((c) == ' ' || ((c) >= '\t' && (c) <= '\r'))
#define strlen look_strlen
#define strnlen look_strnlen
#define strchr look_strchr
#define strrchr look_strrchr
#define memchr look_memchr
#define strspn look_strspn
#define strcspn look_strcspn
#define strcmp look_strcmp
#define strncmp look_strncmp
#define memcmp look_memcmp
#define strtok_r look_strtok_r
#define strstr look_strstr

size_t strlen(const char *s);
size_t strnlen(const char *s, size_t most);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
void *memchr(const void *s, int c, size_t n);
size_t strspn(const char *s, const char *accept);
size_t strcspn(const char *s, const char *reject);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int memcmp(const void *a, const void *b, size_t n);
char *strtok_r(char *s, const char *delimiters, char **rest);
char *strstr(const char *s, const char *wanted);
#endif
