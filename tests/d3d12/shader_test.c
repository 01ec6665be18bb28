/* SPDX-License-Identifier: MIT */
/* shader_test.c: what compilers left in a shader is read back, values lie where HLSL packs them, and damage is one error. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "d3d12/view/dxil.h"
#include "d3d12/view/shader.h"

static uint8_t *load(const char *name, size_t *size)
{
    char path[4096];
    uint8_t *p;
    FILE *f;

    snprintf(path, sizeof(path), "%s/samples/shaders/%s", getenv("AEROGPU_SOURCE_ROOT"), name);
    f = fopen(path, "rb");
    assert_non_null(f);
    p = malloc(1 << 16);
    *size = fread(p, 1, 1 << 16, f);
    fclose(f);
    return p;
}

TEST(what_a_compiler_left_is_shown)
{
    const float values[4] = {0.5f, -2, 1e10f, 0};
    struct strbuf out = {0};
    struct error e = {0};
    struct shader s;
    size_t size;
    uint8_t *bytes = load("scaled_vs.dxbc", &size);

    assert_int_equal(shader_read(&s, bytes, size, &e), 0);
    shader_show(&out, SHOW_TEXT, &s, size);
    assert_string_equal(strbuf_str(&out),
                        "        vertex shader, model 5.0, 900 bytes: in POSITION0.xyzw, COLOR0.xyzw; out "
                        "SV_Position0.xyzw, COLOR0.xyzw\n          constant buffer transform: b0, space 0\n");
    strbuf_clear(&out);
    shader_values(&out, SHOW_TEXT, &s, 0, (const uint8_t *)values, 12, "here");
    assert_string_equal(
        strbuf_str(&out),
        "    vertex shader's transform, b0, space 0: here\n      scale_offset = 0.5, -2, 1e+10, ?\n");
    strbuf_clear(&out);
    shader_values(&out, SHOW_JSON, &s, 0, (const uint8_t *)values, 12, "here");
    assert_string_equal(
        strbuf_str(&out),
        "{\"role\":\"constants\",\"stage\":\"vertex\",\"buffer\":\"transform\",\"register\":0,"
        "\"space\":0,\"from\":\"here\",\"variables\":[{\"name\":\"scale_offset\",\"offset\":0,"
        "\"by_column\":false,\"components\":4,\"values\":[0.5,-2,1e+10,null]}]}\n");
    strbuf_finish(&out);
    shader_finish(&s);
    free(bytes);
}

/* What is said of a shader and of a constant buffer full of 0, 1, 2, ... as floats. */
static void show_all(struct strbuf *out, const uint8_t *bytes, size_t size)
{
    float values[128];
    struct error e = {0};
    struct shader s;

    for (int i = 0; i < 128; i++)
        values[i] = (float)i;
    strbuf_clear(out);
    assert_int_equal(shader_read(&s, bytes, size, &e), 0);
    assert_int_equal(shader_read_names(&s, bytes, size), 0);
    shader_show(out, SHOW_TEXT, &s, size);
    for (size_t i = 0; i < s.num_buffers; i++)
        shader_values(out, SHOW_TEXT, &s, i, (const uint8_t *)values, sizeof(values), "here");
    shader_finish(&s);
}

static void print_all(struct strbuf *out, const uint8_t *bytes, size_t size)
{
    struct error e = {0};
    struct dxbc d;
    bool sum;

    strbuf_clear(out);
    assert_int_equal(dxbc_open_unchecked(&d, bytes, size, &sum, &e), 0);
    dxil_print(out, &d);
}

static bool has_llvm(void)
{
    return !system("command -v llvm-dis-14 llvm-dis >/dev/null");
}

/* Model 6: what goes in and out, what is bound with its names, constants, and the program as LLVM prints it. */
TEST(dxil_is_shown)
{
    struct strbuf out = {0};
    size_t size;
    uint8_t *bytes = load("six_ps.dxil", &size);

    if (!has_llvm()) {
        free(bytes);
        skip();
    }
    show_all(&out, bytes, size);
    assert_string_equal(
        strbuf_str(&out),
        "        pixel shader, model 6.0, 4740 bytes: in SV_Position0.xyzw, TEXCOORD0.xy; out SV_Target0.xyzw\n"
        "          constant buffer Tint: b1, space 2\n          sampler smooth_one: s0, space 0\n"
        "          texture picture: t3, space 0\n          structured UAV counter: u4, space 0\n"
        "    pixel shader's Tint, b1, space 2: here\n      tint = 0, 1, 2, 3\n");
    print_all(&out, bytes, size);
    assert_non_null(strstr(strbuf_str(&out),
                           "; parts: SFI0 8 ISG1 96 OSG1 52 PSV0 284 STAT 2064 HASH 20 DXIL 2100\n"
                           "; model 6.0, DXIL 1.0, 525 words\n; hash 6d0a5b0dd65c9f4386571e7eb744e965\n"));
    assert_non_null(strstr(strbuf_str(&out), "@dx.op.sample.f32("));
    free(bytes);
    /* with debug information and a root signature; arrays, structs and matrices by either order */
    bytes = load("six_cs.dxil", &size);
    show_all(&out, bytes, size);
    assert_string_equal(
        strbuf_str(&out),
        "        compute shader, model 6.0, 15252 bytes: groups of 8 x 4 x 2 threads\n"
        "          constant buffer Scene: b0, space 0\n          constant buffer materials: b2, space 1, 4 of them\n"
        "          structured buffer list: t0, space 1\n          raw UAV sums: u0, space 0\n"
        "    compute shader's Scene, b0, space 0: here\n"
        "      view = (0, 1, 2, 3) (4, 5, 6, 7) (8, 9, 10, 11) (12, 13, 14, 15) by column\n"
        "      flat_one = (16, 17) (20, 21) (24, 25)\n      lights[0].at = 28, 29, 30\n"
        "      lights[0].strength = 31\n      lights[0].turn = (32, 33) (36, 37) (40, 41) by column\n"
        "      lights[1].at = 44, 45, 46\n      lights[1].strength = 47\n"
        "      lights[1].turn = (48, 49) (52, 53) (56, 57) by column\n"
        "      counts = 1114636288, 1114898432, 1115160576, 1115422720\n"
        "      scales = [0] 64, [1] 68, [2] 72\n      on = true\n      pair = 1116995584, 1117126656\n"
        "    compute shader's materials, b2, space 1: here\n      materials.tint = 0, 1, 2, 3\n"
        "      materials.kind = 1082130432\n");
    print_all(&out, bytes, size);
    assert_non_null(
        strstr(strbuf_str(&out), ";   parameter 1, for all: table of [0] 4 CBV from b2, space 1\n"));
    assert_non_null(strstr(strbuf_str(&out), "; source six.hlsl\n/* SPDX-License-Identifier: MIT */\n"));
    assert_non_null(strstr(strbuf_str(&out), "\n    sums.Store4(id.x * 16, asuint(v));\n}\n"));
    free(bytes);
    strbuf_finish(&out);
}

/* Without LLVM, and with bitcode that it does not take, the rest is there, and a line says why. */
TEST(dxil_without_text_says_why)
{
    char *path = strdup(getenv("PATH"));
    struct strbuf out = {0};
    size_t size;
    uint8_t *bytes = load("six_ps.dxil", &size);

    bytes[size - 9] ^= 1; /* else it is known already */
    setenv("PATH", "/nowhere", 1);
    print_all(&out, bytes, size);
    setenv("PATH", path, 1);
    assert_non_null(strstr(strbuf_str(&out),
                           "; 2076 bytes of LLVM bitcode; llvm-dis (package llvm-14), which "
                           "prints it, is not installed\n"));
    free(bytes);
    bytes = load("six_ps.dxil", &size);
    for (size_t at = 0; at + 4 < size; at++)
        if (!memcmp(bytes + at, "STAT", 4) || !memcmp(bytes + at, "DXIL", 4))
            memset(bytes + at + 40, 0xff, 400);
    show_all(&out, bytes, size);
    assert_non_null(strstr(strbuf_str(&out), "          no names: "));
    assert_non_null(strstr(strbuf_str(&out), "          texture: t3, space 0\n"));
    free(bytes);
    free(path);
    strbuf_finish(&out);
}

/* Whatever the disassembler prints: here it is a file with lines that are cut, doubled and exchanged. */
TEST(any_text_of_bitcode_is_read)
{
    char dir[] = "/tmp/aerogpu-test-XXXXXX", command[8192], *path = strdup(getenv("PATH"));
    struct strbuf out = {0};
    size_t size;
    uint8_t *bytes = load("six_cs.dxil", &size);

    if (!has_llvm()) {
        free(bytes);
        free(path);
        skip();
    }
    print_all(&out, bytes, size);
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof(command),
             "cd %s; printf '#!/bin/sh\ncat >/dev/null; i=$(cat %s/i); echo $((i + 1)) >%s/i\n"
             "cat %s/text.$i\n' >llvm-dis-14; chmod +x llvm-dis-14; echo 0 >i",
             dir, dir, dir, dir);
    assert_int_equal(system(command), 0);
    snprintf(
        command, sizeof(command),
        "python3 -c '\nimport random, subprocess, sys\nrandom.seed(7)\n"
        "b = open(sys.argv[1], \"rb\").read()\nat = b.index(b\"STAT\") + 8\n"
        "t = subprocess.run([\"llvm-dis-14\" if not subprocess.call([\"sh\", \"-c\", \"command -v llvm-dis-14 >/dev/null\"]) else \"llvm-dis\", \"-o\", \"-\"], input=b[at + 24:at + int.from_bytes(b[at - 4:at], \"little\")], capture_output=True).stdout\n"
        "assert b\"typeAnnotations\" in t\n"
        "marks = [b\"{\", b\"}\", b\"[9999999 x \", b\"[\", b\"<\", b\"i32 \", b\"4294967295\", b\"!29\", b\"!22\", b\"\\x22\", b\"\\\\\\\\\", b\",\", b\"%%struct.Material\", b\"\\n\"]\n"
        "for i in range(200):\n  u = bytearray(t)\n  for _ in range(random.randrange(1, 9)):\n"
        "    a = random.randrange(t.index(b\"!dx.resources\") - 900, len(u)); k = random.randrange(4)\n"
        "    if k == 0: u[a:a] = random.choice(marks)\n    elif k == 1: del u[a:a + random.randrange(9)]\n"
        "    elif k == 2: u[a:a + 1] = bytes([random.randrange(256)])\n"
        "    else: u[a:a + 3] = random.choice(marks)\n"
        "  open(sys.argv[2] + \"/text.%%d\" %% i, \"wb\").write(u)' "
        "%s/samples/shaders/six_cs.dxil %s",
        getenv("AEROGPU_SOURCE_ROOT"), dir);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof(command), "%s:%s", dir, path);
    setenv("PATH", command, 1);
    for (uint32_t i = 0; i < 100; i++) { /* STAT, and if it gives no name ILDB */
        struct error e = {0};
        struct shader s;

        for (size_t at = 32; at < size - 4; at++) /* bitcode that was not asked for yet */
            if (!memcmp(bytes + at, "STAT", 4) || !memcmp(bytes + at, "ILDB", 4))
                memcpy(bytes + at + 44, &i, 4);
        assert_int_equal(shader_read(&s, bytes, size, &e), 0);
        assert_int_equal(shader_read_names(&s, bytes, size), 0);
        strbuf_clear(&out);
        for (size_t k = 0; k < s.num_buffers; k++)
            shader_values(&out, SHOW_JSON, &s, k, bytes, size, "here");
        shader_finish(&s);
    }
    setenv("PATH", path, 1);
    snprintf(command, sizeof(command), "test $(cat %s/i) -ge 100; r=$?; rm -r %s; exit $r", dir, dir);
    assert_int_equal(system(command), 0);
    free(bytes);
    free(path);
    strbuf_finish(&out);
}

/* Each cut is a sentence at most, and no bit of it ends anything. */
TEST(damaged_dxil_is_read_or_refused)
{
    struct strbuf out = {0};
    struct shader s;
    size_t size;
    uint8_t *bytes = load("six_cs.dxil", &size);

    for (size_t n = 0; n < size; n += 61) {
        uint8_t *part = malloc(n ? n : 1);

        memcpy(part, bytes, n);
        shader_read(&s, part, n, NULL);
        shader_finish(&s);
        free(part);
    }
    for (size_t i = 32; i < size; i += 3) {
        const uint8_t was = bytes[i];
        struct dxbc d;
        bool sum;

        bytes[i] ^= (uint8_t)(1u << i % 8);
        shader_read(&s, bytes, size, NULL);
        shader_finish(&s);
        strbuf_clear(&out);
        if (i % 960 == 32 && !dxbc_open_unchecked(&d, bytes, size, &sum, NULL) && dxil_program(&d))
            dxil_print(&out, &d);
        bytes[i] = was;
    }
    strbuf_finish(&out);
    free(bytes);
}

/* A chunk RDEF of words: one buffer with lights[2] of { float3x3 (by column) turn; int2 at } at byte 16. */
enum { NAME = 108, LIGHTS = NAME + 4, TURN = LIGHTS + 8, AT = TURN + 8 };
static const uint32_t reflection[] = {
    1,      28, 1,   52,  0xfffe0400, 0, NAME,    /* header */
    NAME,   1,  84,  144, 0,          0,          /* 28: the buffer */
    NAME,   0,  0,   0,   0,          3, 1,    0, /* 52: its binding */
    LIGHTS, 16, 128, 2,   0,          0,          /* 84: the variable, without its type */
};

/* The container with this one chunk behind a program. */
static size_t container(uint8_t *out)
{
    uint32_t rdef[96] = {0}, program[2] = {0x00000040, 2}, n = 0;
    const uint32_t types = 140, members = types + 16, turn = members + 24, at = turn + 16;
    const uint32_t type[] = {5 | 0u << 16, 0, 2 | 2u << 16, members};
    const uint32_t member[] = {TURN, turn, 0, AT, at, 48};
    const uint32_t matrix[] = {3 | 3u << 16, 3 | 3u << 16, 0, 0},
                   vector[] = {1 | 2u << 16, 1 | 2u << 16, 0, 0};
    uint8_t *p = out, *chunk = (uint8_t *)rdef;
    uint32_t size = at + 16 + 4 * 4;

    memcpy(rdef, reflection, sizeof(reflection));
    rdef[(84 + 16) / 4] = types;
    memcpy(chunk + NAME, "b\0\0", 4);
    memcpy(chunk + LIGHTS, "light\0\0", 8);
    memcpy(chunk + TURN, "turn\0\0\0", 8);
    memcpy(chunk + AT, "at\0\0", 4);
    memcpy(chunk + types, type, sizeof(type));
    memcpy(chunk + members, member, sizeof(member));
    memcpy(chunk + turn, matrix, sizeof(matrix));
    memcpy(chunk + at, vector, sizeof(vector));
    memset(out, 0, 1024);
    memcpy(p, "DXBC", 4);
    p[20] = 1;
    n = 40 + 8 + size + 8 + sizeof(program);
    memcpy(p + 24, &n, 4);
    p[28] = 2;
    memcpy(p + 32, &(uint32_t){40}, 4);
    memcpy(p + 36, &(uint32_t){48 + size}, 4);
    memcpy(p + 40, "RDEF", 4);
    memcpy(p + 44, &size, 4);
    memcpy(p + 48, rdef, size);
    memcpy(p + 48 + size, "SHDR", 4);
    memcpy(p + 52 + size, &(uint32_t){sizeof(program)}, 4);
    memcpy(p + 56 + size, program, sizeof(program));
    return n;
}

TEST(structs_and_matrices_lie_where_hlsl_packs_them)
{
    float values[40] = {0};
    struct strbuf out = {0};
    struct error e = {0};
    struct shader s;
    uint8_t bytes[1024];
    size_t size = container(bytes);

    for (int i = 0; i < 40; i++)
        values[i] = (float)i;
    memcpy(&values[4 + 12], (int[]){-7, 8}, 8);
    memcpy(&values[4 + 16 + 12], (int[]){9, -10}, 8);
    if (shader_read(&s, bytes, size, &e))
        fail_msg("%s", e.text);
    shader_values(&out, SHOW_TEXT, &s, 0, (const uint8_t *)values, sizeof(values), "here");
    assert_string_equal(strbuf_str(&out),
                        "    pixel shader's b, b3, space 0: here\n"
                        "      light[0].turn = (4, 5, 6) (8, 9, 10) (12, 13, 14) by column\n"
                        "      light[0].at = -7, 8\n"
                        "      light[1].turn = (20, 21, 22) (24, 25, 26) (28, 29, 30) by column\n"
                        "      light[1].at = 9, -10\n");
    strbuf_finish(&out);
    shader_finish(&s);
}

/* A thousand bytes of it would else be gigabytes of values. */
TEST(matrices_have_four_rows)
{
    enum { TURN_ROWS = 48 + 140 + 16 + 24 + 4 };
    struct error e = {0};
    struct shader s;
    uint8_t bytes[1024];
    size_t size = container(bytes);

    bytes[TURN_ROWS] = 4;
    assert_int_equal(shader_read(&s, bytes, size, &e), 0);
    shader_finish(&s);
    bytes[TURN_ROWS + 1] = 1;
    assert_int_equal(shader_read(&s, bytes, size, &e), -EBADMSG);
    assert_string_equal(e.text, "RDEF: light[0].turn has 260 rows and 3 columns, there are 4 at most");
    shader_finish(&s);
}

/* Cut anywhere, or with any byte changed, it is read or refused, and nothing behind its end is touched. */
TEST(damage_is_one_error)
{
    uint8_t whole[1024], *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t size = container(whole);
    uint8_t *p = page + 4096 - size;
    unsigned refused = 0;

    assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
    for (size_t i = 0; i < size; i++)
        for (int k = 0; k < 3; k++) {
            struct error e = {0};
            struct shader s;
            int err;

            memcpy(p, whole, size);
            p[i] = (uint8_t)(k == 0 ? ~p[i] : k == 1 ? p[i] + 1 : 0x7f);
            err = shader_read(&s, p, size, &e);
            refused += err != 0;
            assert_true(!err || (err == -EBADMSG && *e.text));
            shader_finish(&s);
        }
    assert_true(refused > 100);
    for (size_t cut = 0; cut < size; cut++) {
        struct shader s;

        memcpy(page + 4096 - cut, whole, cut);
        assert_int_equal(shader_read(&s, page + 4096 - cut, cut, NULL), -EBADMSG);
        shader_finish(&s);
    }
    munmap(page, 8192);
}

TEST_GROUP(NULL, NULL);
