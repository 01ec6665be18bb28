/* SPDX-License-Identifier: MIT */
/* play_window.c: pictures go to the X server by PutImage, in as many strips as its longest request wants: what is shown is what was read
 * back, whatever plays, and on whatever device. */
#include "d3d12/play/play_window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xcb/xcb.h>

struct play_window {
    xcb_connection_t *x;
    xcb_screen_t *screen;
    xcb_window_t id;
    xcb_gcontext_t gc;
    xcb_atom_t protocols, closes;
    uint32_t width, height;
    uint8_t *pixels; /* as the server has them */
    size_t room;
    bool closed;
};

static xcb_atom_t atom(xcb_connection_t *x, const char *name)
{
    xcb_intern_atom_reply_t *r =
        xcb_intern_atom_reply(x, xcb_intern_atom(x, 0, (uint16_t)strlen(name), name), NULL);
    xcb_atom_t a = r ? r->atom : XCB_ATOM_NONE;

    free(r);
    return a;
}

static bool has_pixels(const xcb_setup_t *setup, const xcb_screen_t *screen)
{
    xcb_format_iterator_t i = xcb_setup_pixmap_formats_iterator(setup);

    for (; i.rem; xcb_format_next(&i))
        if (i.data->depth == screen->root_depth)
            return i.data->bits_per_pixel == 32 && screen->root_depth >= 24 &&
                   setup->image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST;
    return false;
}

static void make_window(struct play_window *w, const char *title)
{
    const uint32_t values[] = {w->screen->black_pixel,
                               XCB_EVENT_MASK_EXPOSURE | XCB_EVENT_MASK_STRUCTURE_NOTIFY};

    w->id = xcb_generate_id(w->x);
    w->gc = xcb_generate_id(w->x);
    xcb_create_window(w->x, XCB_COPY_FROM_PARENT, w->id, w->screen->root, 0, 0, (uint16_t)w->width,
                      (uint16_t)w->height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, w->screen->root_visual,
                      XCB_CW_BACK_PIXEL | XCB_CW_EVENT_MASK, values);
    xcb_create_gc(w->x, w->gc, w->id, 0, NULL);
    xcb_change_property(w->x, XCB_PROP_MODE_REPLACE, w->id, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 8,
                        (uint32_t)strlen(title), title);
    w->protocols = atom(w->x, "WM_PROTOCOLS");
    w->closes = atom(w->x, "WM_DELETE_WINDOW");
    xcb_change_property(w->x, XCB_PROP_MODE_REPLACE, w->id, w->protocols, XCB_ATOM_ATOM, 32, 1, &w->closes);
    xcb_map_window(w->x, w->id);
    xcb_flush(w->x);
}

int play_window_open(struct play_window **out, uint32_t width, uint32_t height, const char *title,
                     struct error *e)
{
    struct play_window *w = calloc(1, sizeof(*w));
    xcb_screen_iterator_t screens;
    int screen = 0;

    *out = NULL;
    if (!w)
        return error_set(e, -ENOMEM, "out of memory");
    w->width = width;
    w->height = height;
    w->x = xcb_connect(NULL, &screen);
    if (xcb_connection_has_error(w->x)) {
        play_window_close(w);
        return error_set(e, -ENODEV, "there is no X server to show a window on (DISPLAY)");
    }
    screens = xcb_setup_roots_iterator(xcb_get_setup(w->x));
    for (; screens.rem > 1 && screen; screen--)
        xcb_screen_next(&screens);
    w->screen = screens.data;
    if (!w->screen || !has_pixels(xcb_get_setup(w->x), w->screen)) {
        play_window_close(w);
        return error_set(e, -ENODEV, "the X server's pixels are not of 32 bits from the low byte up");
    }
    make_window(w, title);
    *out = w;
    return 0;
}

static void look_at_events(struct play_window *w)
{
    xcb_generic_event_t *v;

    while ((v = xcb_poll_for_event(w->x))) {
        const xcb_client_message_event_t *m = (const xcb_client_message_event_t *)v;
        unsigned type = v->response_type & 0x7F;

        w->closed |= type == XCB_DESTROY_NOTIFY || (type == XCB_CLIENT_MESSAGE && m->type == w->protocols &&
                                                    m->data.data32[0] == w->closes);
        free(v);
    }
}

static int take_size(struct play_window *w, uint32_t width, uint32_t height)
{
    const uint32_t size[] = {width, height};
    size_t bytes = 4 * (size_t)width * height;

    if (bytes > w->room) {
        uint8_t *grown = realloc(w->pixels, bytes);

        if (!grown)
            return -ENOMEM;
        w->pixels = grown;
        w->room = bytes;
    }
    if (width != w->width || height != w->height)
        xcb_configure_window(w->x, w->id, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
    w->width = width;
    w->height = height;
    return 0;
}

int play_window_show(struct play_window *w, const uint8_t *rgba, uint32_t width, uint32_t height,
                     struct error *e)
{
    uint64_t most = 4ull * xcb_get_maximum_request_length(w->x) - sizeof(xcb_put_image_request_t) - 4;
    uint32_t rows = (uint32_t)(most / (4ull * width));

    if (take_size(w, width, height))
        return error_set(e, -ENOMEM, "out of memory");
    for (size_t i = 0; i < 4 * (size_t)width * height; i += 4) {
        w->pixels[i] = rgba[i + 2];
        w->pixels[i + 1] = rgba[i + 1];
        w->pixels[i + 2] = rgba[i];
        w->pixels[i + 3] = 0xFF;
    }
    for (uint32_t y = 0, n; y < height && rows; y += n) {
        n = height - y < rows ? height - y : rows;
        xcb_put_image(w->x, XCB_IMAGE_FORMAT_Z_PIXMAP, w->id, w->gc, (uint16_t)width, (uint16_t)n, 0,
                      (int16_t)y, 0, w->screen->root_depth, 4 * n * width, w->pixels + 4 * (size_t)y * width);
    }
    free(xcb_get_input_focus_reply(w->x, xcb_get_input_focus(w->x),
                                   NULL)); /* it is there: no frames queue up */
    look_at_events(w);
    if (w->closed)
        return -ECANCELED;
    return xcb_connection_has_error(w->x) ? error_set(e, -EIO, "the X server is gone") : 0;
}

void play_window_close(struct play_window *w)
{
    if (!w)
        return;
    xcb_disconnect(w->x);
    free(w->pixels);
    free(w);
}
