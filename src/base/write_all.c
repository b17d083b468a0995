/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "base/write_all.h"
#include "base/check.h"
#include <errno.h>
#include <unistd.h>

bool sl_write_all(int fd, const char *data, size_t len)
{
    SL_PRE(data != NULL || len == 0);
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        data += n;
        len -= (size_t)n;
    }
    return true;
}
