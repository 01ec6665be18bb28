/* SPDX-License-Identifier: MIT */
/* Drivers that only display, on the device: what is presented is what the scanout shows. With a driver's file as argument (one
 * that nobody here wrote) it must do the same, but for the escapes. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aerogpu/pci.h"
#include "displayonly/protocol.h"
#include "stack/stack.h"

enum { WIDTH = 1024, HEIGHT = 768 }; /* firmware's mode */

static const char *driver = DISPLAYONLY_KMD;

struct screen {
    struct stack *stack;
    struct dxgk *d;
    struct dxgk_client *client;
    D3DKMT_HANDLE adapter;
    uint32_t *pixels;
};

static void up(struct screen *s)
{
    struct stack_params p = {.machine.kind = MACHINE_SIM, .miniport = driver};
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC) "\\\\.\\DISPLAY1"};
    struct error e = {0};

    if (stack_create(&s->stack, &p, &e) || !NT_SUCCESS(stack_start(s->stack, &e)))
        fail_msg("%s", e.text);
    s->d = stack_dxgk(s->stack);
    assert_true(dxgk_displays_only(s->d));
    assert_int_equal(dxgk_client_open(s->d, &s->client, 100, true), 0);
    assert_int_equal(dxgk_OpenAdapterFromHdc(s->client, &open), STATUS_SUCCESS);
    s->adapter = open.hAdapter;
    s->pixels = calloc(WIDTH * HEIGHT, 4);
    assert_non_null(s->pixels);
}

static void down(struct screen *s, unsigned violations)
{
    dxgk_client_close(s->client);
    dxgk_unload(s->d);
    for (unsigned i = violations; i < dxgk_violations(s->d); i++)
        print_error("violation: %s\n", dxgk_violation(s->d, i));
    assert_int_equal(dxgk_violations(s->d), violations);
    stack_destroy(s->stack);
    free(s->pixels);
}

static void behave(struct screen *s, uint32_t how)
{
    assert_int_equal(dxgk_Escape(s->client, &(D3DKMT_ESCAPE){.hAdapter = s->adapter,
                                                             .pPrivateDriverData = &how,
                                                             .PrivateDriverDataSize = sizeof(how)}),
                     STATUS_SUCCESS);
}

static uint32_t colour(uint32_t x, uint32_t y, uint32_t seed)
{
    return (x * 2654435761u ^ y * 40503u ^ seed) & 0xFFFFFF;
}

static void paint(struct screen *s, uint32_t width, uint32_t height, uint32_t seed)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            s->pixels[y * width + x] = colour(x, y, seed);
}

static struct gpu_picture shown(struct screen *s)
{
    struct gpu_picture p;
    struct error e = {0};

    if (gpu_read_scanout(machine_gpu(stack_machine(s->stack)), 0, &p, &e))
        fail_msg("%s", e.text);
    assert_int_equal(p.width, WIDTH);
    assert_int_equal(p.height, HEIGHT);
    return p;
}

static uint32_t at(const struct gpu_picture *p, uint32_t x, uint32_t y)
{
    const uint8_t *c = p->rgba + ((size_t)y * p->width + x) * 4;

    return (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
}

TEST(what_is_presented_is_shown)
{
    RECT all = {0, 0, WIDTH, HEIGHT}, two[] = {{10, 20, 200, 40}, {500, 700, 1024, 768}};
    struct gpu_picture p;
    struct screen s;

    up(&s);
    paint(&s, WIDTH, HEIGHT, 1);
    assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, &all, 1), STATUS_SUCCESS);
    p = shown(&s);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            assert_int_equal(at(&p, x, y), colour(x, y, 1));
    free(p.rgba);
    paint(&s, WIDTH, HEIGHT, 2); /* of these only two rectangles */
    assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, two, 2), STATUS_SUCCESS);
    p = shown(&s);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            bool changed = (x >= 10 && x < 200 && y >= 20 && y < 40) || (x >= 500 && y >= 700);
            assert_int_equal(at(&p, x, y), colour(x, y, changed ? 2 : 1));
        }
    free(p.rgba);
    down(&s, 0);
}

TEST(a_smaller_mode_is_shown_in_the_middle)
{
    D3DKMT_DISPLAYMODE mode = {0}, modes[16];
    D3DKMT_GETDISPLAYMODELIST list = {.pModeList = modes, .ModeCount = 16};
    uint32_t left, top;
    struct gpu_picture p;
    struct screen s;

    up(&s);
    list.hAdapter = s.adapter;
    assert_int_equal(dxgk_GetDisplayModeList(s.client, &list), STATUS_SUCCESS);
    for (UINT i = 0; i < list.ModeCount; i++)
        if (modes[i].Width < WIDTH)
            mode = modes[i];
    assert_true(mode.Width && mode.Height < HEIGHT);
    assert_int_equal(mode.IntegerRefreshRate, 60); /* the driver does not say: the timer's */
    assert_int_equal(dxgk_desktop_set_mode(s.d, 0, &mode), STATUS_SUCCESS);
    left = (WIDTH - mode.Width) / 2;
    top = (HEIGHT - mode.Height) / 2;
    paint(&s, mode.Width, mode.Height, 3);
    assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, mode.Width * 4,
                                          &(RECT){0, 0, (LONG)mode.Width, (LONG)mode.Height}, 1),
                     STATUS_SUCCESS);
    p = shown(&s);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            bool in = x >= left && x < left + mode.Width && y >= top && y < top + mode.Height;
            assert_int_equal(at(&p, x, y), in ? colour(x - left, y - top, 3) : 0);
        }
    free(p.rgba);
    down(&s, 0);
}

TEST(a_bug_check_has_a_screen)
{
    struct gpu_picture p;
    struct screen s;

    up(&s);
    paint(&s, 320, 100, 4);
    assert_int_equal(dxgk_system_display(s.d, s.pixels, 320, 100, 40, 50), STATUS_SUCCESS);
    p = shown(&s);
    for (uint32_t y = 0; y < 100; y++)
        for (uint32_t x = 0; x < 320; x++)
            assert_int_equal(at(&p, 40 + x, 50 + y), colour(x, y, 4));
    free(p.rgba);
    assert_int_equal(dxgk_system_display(s.d, s.pixels, 320, 100, WIDTH - 319, 0), STATUS_INVALID_PARAMETER);
    down(&s, 0);
}

TEST(power_comes_and_goes)
{
    RECT all = {0, 0, WIDTH, HEIGHT};
    struct gpu_picture p;
    struct screen s;

    up(&s);
    paint(&s, WIDTH, HEIGHT, 5);
    assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, &all, 1), STATUS_SUCCESS);
    assert_int_equal(dxgk_set_power(s.d, PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS);
    assert_int_equal(dxgk_set_power(s.d, PowerDeviceD0, PowerActionSleep), STATUS_SUCCESS);
    p = shown(&s);
    assert_int_equal(at(&p, 700, 300), colour(700, 300, 5)); /* the desktop is what it was */
    free(p.rgba);
    down(&s, 0);
}

TEST(vblanks_are_made_by_a_timer)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT wait = {0};
    struct screen s;

    up(&s);
    wait.hAdapter = s.adapter;
    for (int i = 0; i < 3; i++)
        assert_int_equal(dxgk_WaitForVerticalBlankEvent(s.client, &wait), STATUS_SUCCESS);
    down(&s, 0);
}

TEST(there_is_nothing_to_render_with)
{
    D3DKMT_CREATEDEVICE create = {0};
    struct screen s;

    up(&s);
    create.hAdapter = s.adapter;
    assert_int_equal(dxgk_CreateDevice(s.client, &create), STATUS_NOT_SUPPORTED);
    down(&s, 0);
}

TEST(rectangles_outside_change_nothing)
{
    RECT bad[] = {{0, 0, WIDTH + 1, 1}, {-1, 0, 5, 5}, {5, 5, 5, 6}, {0, 0, 1, HEIGHT + 1}, {9, 9, 8, 10}};
    struct screen s;

    up(&s);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, &bad[i], 1),
                         STATUS_INVALID_PARAMETER);
    assert_int_equal(dxgk_desktop_present(s.d, 1, s.pixels, WIDTH * 4, bad, 1), STATUS_INVALID_PARAMETER);
    down(&s, 0);
}

TEST(presents_may_end_later)
{
    RECT one = {0, 0, 1, 1};
    struct screen s;

    if (strcmp(driver, DISPLAYONLY_KMD))
        skip();
    up(&s);
    behave(&s, BEHAVE_REPORTS_LATER);
    assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, &one, 1), STATUS_SUCCESS);
    behave(&s, BEHAVE_FAILS_LATER);
    assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, &one, 1), STATUS_UNSUCCESSFUL);
    behave(&s, BEHAVE_FAILS);
    assert_int_equal(dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, &one, 1), STATUS_INVALID_PARAMETER);
    behave(&s, BEHAVE_NEVER_REPORTS);
    dxgk_desktop_present(s.d, 0, s.pixels, WIDTH * 4, &one, 1);
    assert_int_equal(dxgk_violations(s.d), 1);
    assert_non_null(strstr(dxgk_violation(s.d, 0), "no progress was reported"));
    behave(&s, BEHAVE_GIVES_BACK_RUBBISH);
    dxgk_client_close(s.client);
    dxgk_unload(s.d);
    assert_int_equal(dxgk_violations(s.d), 2);
    assert_non_null(strstr(dxgk_violation(s.d, 1), "no frame buffer of the adapter"));
    stack_destroy(s.stack);
    free(s.pixels);
}

TEST(what_it_lacks_is_named)
{
    struct stack_params p = {.machine.kind = MACHINE_SIM, .miniport = DISPLAYONLY_POOR};
    struct stack *stack;
    struct error e = {0};

    assert_int_equal(stack_create(&stack, &p, &e), -ENXIO);
    assert_string_equal(e.text, "the miniport lacks DxgkDdiSystemDisplayWrite, which WDDM 1.2 demands");
}

int main(int argc, char **argv)
{
    setenv("AEROGPU_LOG", "error", 0);
    if (argc > 1)
        driver = argv[1];
    return test_run();
}
