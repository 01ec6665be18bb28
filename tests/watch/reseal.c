/* SPDX-License-Identifier: MIT */
/* reseal FILE TABLE...: makes the checksums of tables that a test changed right again. */
#include <stdio.h>

#include "base/file/seal.h"

int main(int argc, char **argv)
{
    sqlite3 *db;
    int bad = argc < 3 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL);

    for (int i = 2; i < argc && !bad; i++)
        bad = seal_table(db, argv[i]);
    if (bad || sqlite3_close(db)) {
        fprintf(stderr, "reseal: %s\n", argc < 3 ? "nothing to do" : argv[1]);
        return 1;
    }
    return 0;
}
