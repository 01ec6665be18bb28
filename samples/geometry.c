/* SPDX-License-Identifier: MIT */
/* geometry.c: matrices, shapes and the texture of the samples. */
#include "sample.h"

struct matrix matrix_identity(void)
{
    return matrix_scale(1, 1, 1);
}

struct matrix matrix_multiply(struct matrix a, struct matrix b)
{
    struct matrix r = {0};

    for (int c = 0; c < 4; c++)
        for (int row = 0; row < 4; row++)
            for (int k = 0; k < 4; k++)
                r.m[c][row] += a.m[k][row] * b.m[c][k];
    return r;
}

struct matrix matrix_translation(float x, float y, float z)
{
    struct matrix r = matrix_identity();

    r.m[3][0] = x;
    r.m[3][1] = y;
    r.m[3][2] = z;
    return r;
}

struct matrix matrix_scale(float x, float y, float z)
{
    return (struct matrix){.m = {{x}, {0, y}, {0, 0, z}, {0, 0, 0, 1}}};
}

struct matrix matrix_rotation_x(float angle)
{
    float c = cosf(angle), s = sinf(angle);

    return (struct matrix){.m = {{1}, {0, c, s}, {0, -s, c}, {0, 0, 0, 1}}};
}

struct matrix matrix_rotation_y(float angle)
{
    float c = cosf(angle), s = sinf(angle);

    return (struct matrix){.m = {{c, 0, -s}, {0, 1}, {s, 0, c}, {0, 0, 0, 1}}};
}

struct matrix matrix_perspective(float fov_y, float aspect, float near_z, float far_z)
{
    float h = 1 / tanf(fov_y / 2), q = far_z / (far_z - near_z);

    return (struct matrix){.m = {{h / aspect}, {0, h}, {0, 0, q, 1}, {0, 0, -q * near_z, 0}}};
}

void torus(struct vertex *vertices, uint16_t *indices, int rings, int sides, float radius, float tube)
{
    const float turn = 6.2831853f;

    for (int i = 0; i <= rings; i++)
        for (int j = 0; j <= sides; j++) {
            float a = turn * (float)i / (float)rings, b = turn * (float)j / (float)sides;
            float n[3] = {cosf(b) * cosf(a), sinf(b), cosf(b) * sinf(a)};
            struct vertex *v = &vertices[i * (sides + 1) + j];

            *v = (struct vertex){
                .position = {radius * cosf(a) + tube * n[0], tube * n[1], radius * sinf(a) + tube * n[2]},
                .normal = {n[0], n[1], n[2]},
                .uv = {8 * (float)i / (float)rings, 3 * (float)j / (float)sides}};
        }
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < sides; j++) {
            uint16_t a = (uint16_t)(i * (sides + 1) + j), b = (uint16_t)(a + sides + 1);

            for (int k = 0; k < 6; k++)
                *indices++ =
                    (uint16_t[]){a, (uint16_t)(a + 1), b, b, (uint16_t)(a + 1), (uint16_t)(b + 1)}[k];
        }
}

void ground(struct vertex vertices[6], float repeat)
{
    static const float corners[6][2] = {{-1, 1}, {1, 1}, {-1, -1}, {-1, -1}, {1, 1}, {1, -1}};

    for (int i = 0; i < 6; i++)
        vertices[i] =
            (struct vertex){.position = {corners[i][0], 0, corners[i][1]},
                            .normal = {0, 1, 0},
                            .uv = {repeat * (corners[i][0] + 1) / 2, repeat * (1 - corners[i][1]) / 2}};
}

void bricks(uint32_t *texels, uint32_t size)
{
    for (uint32_t y = 0; y < size; y++)
        for (uint32_t x = 0; x < size; x++) {
            uint32_t row = y * 4 / size, shifted = (x + (row & 1 ? size / 4 : 0)) % size;
            uint32_t column = shifted * 2 / size;
            bool mortar = y % (size / 4) < size / 32 + 1 || shifted % (size / 2) < size / 32 + 1;
            uint32_t r = 150 + 25 * row, g = 60 + 50 * column + 10 * row, b = 40 + 30 * ((row + column) % 3);

            /* One corner is green, so that a flip in either direction shows. */
            if (x < size / 4 && y < size / 4)
                r = 30, g = 200, b = 60;
            texels[y * size + x] = mortar ? 0xFFB0B8C0 : 0xFF000000 | b << 16 | g << 8 | r;
        }
}
