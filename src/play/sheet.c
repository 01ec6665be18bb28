/* SPDX-License-Identifier: MIT */
#include "play/sheet.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/file/png.h"

enum { GAP = 8, TEXT_SCALE = 2, TEXT_HEIGHT = 5 * TEXT_SCALE + 8 };

/* Letters of 3 x 5 dots, five rows of three bits from the top, the leftmost dot highest. */
static const struct {
    char c;
    uint16_t dots;
} font[] = {
    {'A', 0x2BED}, {'B', 0x6BAE}, {'C', 0x3923}, {'D', 0x6B6E}, {'E', 0x79A7}, {'F', 0x79A4}, {'G', 0x396B},
    {'H', 0x5BED}, {'I', 0x7497}, {'J', 0x126A}, {'K', 0x5BAD}, {'L', 0x4927}, {'M', 0x5FED}, {'N', 0x6B6D},
    {'O', 0x2B6A}, {'P', 0x6BA4}, {'Q', 0x2B7B}, {'R', 0x6BAD}, {'S', 0x388E}, {'T', 0x7492}, {'U', 0x5B6F},
    {'V', 0x5B6A}, {'W', 0x5BFD}, {'X', 0x5AAD}, {'Y', 0x5A92}, {'Z', 0x72A7}, {'0', 0x7B6F}, {'1', 0x2C97},
    {'2', 0x73E7}, {'3', 0x73CF}, {'4', 0x5BC9}, {'5', 0x79CF}, {'6', 0x79EF}, {'7', 0x7292}, {'8', 0x7BEF},
    {'9', 0x7BCF}, {'.', 0x0002}, {'-', 0x01C0}, {'_', 0x0007}, {'/', 0x12A4}, {':', 0x0410}, {',', 0x0014},
    {'(', 0x2922}, {')', 0x224A}, {'=', 0x0E38}, {'+', 0x05D0},
};

static uint16_t dots_of(char c)
{
    for (size_t i = 0; i < sizeof(font) / sizeof(font[0]); i++)
        if (font[i].c == toupper((unsigned char)c))
            return font[i].dots;
    return 0;
}

static void draw_text(uint32_t *at, uint32_t stride, const char *text, uint32_t columns)
{
    for (uint32_t n = 0; text[n] && (n + 1) * 4 * TEXT_SCALE <= columns; n++) {
        uint16_t dots = dots_of(text[n]);

        for (uint32_t y = 0; y < 5 * TEXT_SCALE; y++)
            for (uint32_t x = 0; x < 3 * TEXT_SCALE; x++)
                if (dots >> (14 - 3 * (y / TEXT_SCALE) - x / TEXT_SCALE) & 1)
                    at[y * stride + n * 4 * TEXT_SCALE + x] = 0xFFE8E8E8;
    }
}

/* One pixel of the cell: the mean of the source pixels that it covers, over a checkerboard where they are clear. */
static void scale_pixel(uint8_t *out, const uint8_t *rgba, uint32_t width, const uint32_t from[2],
                        const uint32_t to[2], uint32_t board)
{
    uint32_t sum[3] = {0}, n = (to[0] - from[0]) * (to[1] - from[1]);

    for (uint32_t y = from[1]; y < to[1]; y++)
        for (uint32_t x = from[0]; x < to[0]; x++) {
            const uint8_t *p = rgba + 4 * ((size_t)y * width + x);

            for (int c = 0; c < 3; c++)
                sum[c] += (p[c] * p[3] + board * (255u - p[3])) / 255;
        }
    for (int c = 0; c < 3; c++)
        out[c] = (uint8_t)(sum[c] / n);
    out[3] = 255;
}

static void scale(uint8_t *cell, const uint8_t *rgba, uint32_t width, uint32_t height)
{
    uint32_t w = SHEET_CELL_WIDTH, h = SHEET_CELL_HEIGHT, left, top;

    if ((uint64_t)width * h > (uint64_t)height * w)
        h = (uint32_t)((uint64_t)height * w / width);
    else
        w = (uint32_t)((uint64_t)width * h / height);
    w = w ? w : 1;
    h = h ? h : 1;
    left = (SHEET_CELL_WIDTH - w) / 2;
    top = (SHEET_CELL_HEIGHT - h) / 2;
    INVARIANT(left + w <= SHEET_CELL_WIDTH && top + h <= SHEET_CELL_HEIGHT);
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            uint32_t from[2] = {(uint32_t)((uint64_t)x * width / w), (uint32_t)((uint64_t)y * height / h)};
            uint32_t to[2] = {(uint32_t)((uint64_t)(x + 1) * width / w),
                              (uint32_t)((uint64_t)(y + 1) * height / h)};

            to[0] = to[0] > from[0] ? to[0] : from[0] + 1;
            to[1] = to[1] > from[1] ? to[1] : from[1] + 1;
            scale_pixel(cell + 4 * ((size_t)(top + y) * SHEET_CELL_WIDTH + left + x), rgba, width, from, to,
                        ((x ^ y) & 8) ? 0x60 : 0x90);
        }
}

int sheet_add(struct sheet *s, uint32_t row, const char *label, const uint8_t *rgba, uint32_t width,
              uint32_t height)
{
    struct sheet_cell *cell;

    if (array_reserve(s->cells, s->capacity, s->count + 1))
        return -ENOMEM;
    cell = &s->cells[s->count];
    *cell = (struct sheet_cell){.row = row};
    strncpy(cell->label, label, sizeof(cell->label) - 1);
    if (rgba && width && height) {
        cell->rgba = calloc((size_t)SHEET_CELL_WIDTH * SHEET_CELL_HEIGHT, 4);
        if (!cell->rgba)
            return -ENOMEM;
        scale(cell->rgba, rgba, width, height);
    }
    s->count++;
    INVARIANT(s->count <= s->capacity);
    return 0;
}

/* Cells of a row so far, up to cell `n`. */
static uint32_t column_of(const struct sheet *s, uint32_t n)
{
    uint32_t column = 0;

    for (uint32_t i = 0; i < n; i++)
        column += s->cells[i].row == s->cells[n].row;
    return column;
}

int sheet_write(const struct sheet *s, const char *path, struct error *e)
{
    const uint32_t cell_w = SHEET_CELL_WIDTH + GAP, cell_h = SHEET_CELL_HEIGHT + TEXT_HEIGHT + GAP;
    uint32_t columns = 1, rows = 1, width, height;
    uint32_t *pixels;
    int rc;

    for (uint32_t i = 0; i < s->count; i++) {
        columns = column_of(s, i) + 1 > columns ? column_of(s, i) + 1 : columns;
        rows = s->cells[i].row + 1 > rows ? s->cells[i].row + 1 : rows;
    }
    width = columns * cell_w + GAP;
    height = rows * cell_h + GAP;
    pixels = malloc((size_t)width * height * 4);
    if (!pixels)
        return error_set(e, -ENOMEM, "%s: no memory for %u x %u pixels", path, width, height);
    for (size_t i = 0; i < (size_t)width * height; i++)
        pixels[i] = 0xFF241C18; /* bytes R G B A: a dark blue-grey */
    for (uint32_t i = 0; i < s->count; i++) {
        INVARIANT(s->cells[i].row < rows && column_of(s, i) < columns); /* inside of the picture */
        uint32_t *at =
            pixels + (size_t)(GAP + s->cells[i].row * cell_h) * width + GAP + column_of(s, i) * cell_w;

        for (uint32_t y = 0; s->cells[i].rgba && y < SHEET_CELL_HEIGHT; y++)
            for (uint32_t x = 0; x < SHEET_CELL_WIDTH; x++) {
                const uint8_t *p = s->cells[i].rgba + 4 * ((size_t)y * SHEET_CELL_WIDTH + x);

                if (p[3])
                    memcpy(&at[(size_t)y * width + x], p, 4);
            }
        draw_text(at + (size_t)(SHEET_CELL_HEIGHT + 4) * width, width, s->cells[i].label, SHEET_CELL_WIDTH);
    }
    rc = png_file_write(path, (const uint8_t *)pixels, width, height, (size_t)width * 4, e);
    free(pixels);
    return rc;
}

void sheet_finish(struct sheet *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        free(s->cells[i].rgba);
    free(s->cells);
    *s = (struct sheet){0};
}
