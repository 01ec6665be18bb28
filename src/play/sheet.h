/* SPDX-License-Identifier: MIT */
/* sheet.h: a contact sheet: many pictures in one PNG, in a grid of one row per recording, each with a label. */
#pragma once

#include <stdint.h>

#include "base/error.h"

enum { SHEET_CELL_WIDTH = 240, SHEET_CELL_HEIGHT = 180, SHEET_LABEL = 60 };

struct sheet_cell {
    uint8_t *rgba; /* SHEET_CELL_WIDTH x SHEET_CELL_HEIGHT, tight; NULL: an empty cell */
    char label[SHEET_LABEL];
    uint32_t row;
};

struct sheet {
    struct sheet_cell *cells;
    size_t count, capacity;
};

/* Adds a picture, scaled to fit the cell. Rows fill from left to right in the order of the calls. 0 or
 * -ENOMEM. `rgba` may be NULL: a cell with nothing but its label. */
int sheet_add(struct sheet *s, uint32_t row, const char *label, const uint8_t *rgba, uint32_t width,
              uint32_t height);

int sheet_write(const struct sheet *s, const char *path, struct error *e);
void sheet_finish(struct sheet *s);
