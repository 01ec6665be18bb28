/* SPDX-License-Identifier: MIT */
/* triangle.c: a Direct3D 11 program, as one is written for Windows; built with mingw-w64, and natively over the same runtime.
 *
 *   triangle FOLDER PICTURE [hang|present]
 *
 * Draws a triangle with the shaders of FOLDER and writes the picture (PPM). `hang` first draws one whose pixel shader never
 * ends, says why the device was removed, and begins again on a new one. `present` also shows frames, full screen.
 */
#define COBJMACROS
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3d11_1.h>
#include <dxgi.h>

enum { SIDE = 64, LARGE = 2048 };

/* ps_4_0: a loop that ends when cb0[0].x is not 0, which it never is. A driver may end it after so many rounds (llvmpipe: 65 535),
 * for every pixel anew: of a large target that is minutes. */
static const UINT endless[] = {0x43425844, 0xA8F54593, 0xACA38FDB, 0x8A11B55A, 0x9D2D1AFF, /* the checksum */
                               1,          284,                                            /* size */
                               3,          44,         60,         0x74, /* container: three chunks */
                               0x4E475349, 8,          0,          8,    /* ISGN: empty */
                               0x4E47534F, 48,         1,          8,          32,         0,
                               0,          3,          0,          15,         0x545F5653, 0x65677261,
                               0x00000074, 0, /* OSGN: SV_Target */
                               0x52444853, 160,        0x00000040, 40,         0x04000059, 0x00208E46,
                               0,          1, /* SHDR; dcl_constantbuffer cb0[1] */
                               0x03000065, 0x001020F2, 0,          0x02000068, 1, /* dcl_output o0; dcl_temps 1 */
                               0x05000036, 0x00100012, 0,          0x00004001, 0, /* mov r0.x, 0 */
                               0x01000030, 0x04040003, 0x0020800A, 0,          0, /* loop; breakc_nz cb0[0].x */
                               0x07000000, 0x00100012, 0,          0x0010000A, 0,          0x00004001,
                               0x3F800000,                                        /* add r0.x, r0.x, 1 */
                               0x0500004B, 0x00100012, 0,          0x0010000A, 0, /* sqrt r0.x, r0.x */
                               0x01000016, 0x05000036, 0x001020F2, 0,          0x00100006, 0,
                               0x0100003E /* endloop; mov o0, r0.x; ret */};

static const GUID debug_name = {0x429B8C22, 0x9188, 0x4B0C, {0x87, 0x42, 0xAC, 0xB0, 0xBF, 0x85, 0xC2, 0x00}};

struct work {
    ID3D11Device *device;
    ID3D11DeviceContext *context;
    ID3D11Texture2D *target, *staging;
    ID3D11RenderTargetView *view;
    ID3D11Buffer *vertices, *constants;
    ID3D11VertexShader *vs;
    ID3D11PixelShader *ps;
    ID3D11InputLayout *layout;
};

#define NEED(call)                                                                                           \
    do {                                                                                                     \
        HRESULT hr_ = (call);                                                                                \
        if (hr_ != S_OK) {                                                                                   \
            fprintf(stderr, "triangle: %s: 0x%08X\n", #call, (unsigned)hr_);                                 \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void *file(const char *folder, const char *name, SIZE_T *size)
{
    char path[1024];
    FILE *f;
    void *bytes = malloc(1 << 16);

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (!f || !bytes) {
        fprintf(stderr, "triangle: cannot read %s\n", path);
        exit(1);
    }
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static void make(struct work *w, const char *folder)
{
    static const float vertices[] = {-0.75f, -0.75f, 0, 1, 1,     0,      0, 1, -0.75f, 0.75f, 0, 1,
                                     1,      0,      0, 1, 0.75f, -0.75f, 0, 1, 1,      0,     0, 1};
    static const D3D11_INPUT_ELEMENT_DESC elements[] = {
        {"POSITION", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, 0, D3D11_INPUT_PER_VERTEX_DATA, 0},
        {"COLOR", 0, DXGI_FORMAT_R32G32B32A32_FLOAT, 0, D3D11_APPEND_ALIGNED_ELEMENT,
         D3D11_INPUT_PER_VERTEX_DATA, 0}};
    D3D11_TEXTURE2D_DESC t = {.Width = SIDE,
                              .Height = SIDE,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET};
    D3D11_BUFFER_DESC b = {.ByteWidth = sizeof(vertices), .BindFlags = D3D11_BIND_VERTEX_BUFFER};
    D3D11_SUBRESOURCE_DATA data = {vertices, 0, 0};
    D3D_FEATURE_LEVEL level;
    SIZE_T size;
    void *code;

    memset(w, 0, sizeof(*w));
    NEED(D3D11CreateDevice(NULL, D3D_DRIVER_TYPE_HARDWARE, NULL, 0, NULL, 0, D3D11_SDK_VERSION, &w->device,
                           &level, &w->context));
    NEED(ID3D11Device_CreateTexture2D(w->device, &t, NULL, &w->target));
    NEED(ID3D11Texture2D_SetPrivateData(w->target, &debug_name, 10, "the canvas"));
    NEED(ID3D11Device_CreateRenderTargetView(w->device, (ID3D11Resource *)w->target, NULL, &w->view));
    t.Usage = D3D11_USAGE_STAGING;
    t.BindFlags = 0;
    t.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    NEED(ID3D11Device_CreateTexture2D(w->device, &t, NULL, &w->staging));
    NEED(ID3D11Device_CreateBuffer(w->device, &b, &data, &w->vertices));
    b = (D3D11_BUFFER_DESC){.ByteWidth = 16,
                            .Usage = D3D11_USAGE_DYNAMIC,
                            .BindFlags = D3D11_BIND_CONSTANT_BUFFER,
                            .CPUAccessFlags = D3D11_CPU_ACCESS_WRITE};
    NEED(ID3D11Device_CreateBuffer(w->device, &b, NULL, &w->constants));
    code = file(folder, "colour_vs.dxbc", &size);
    NEED(ID3D11Device_CreateVertexShader(w->device, code, size, NULL, &w->vs));
    NEED(ID3D11Device_CreateInputLayout(w->device, elements, 2, code, size, &w->layout));
    free(code);
    code = file(folder, "colour_ps.dxbc", &size);
    NEED(ID3D11Device_CreatePixelShader(w->device, code, size, NULL, &w->ps));
    free(code);
}

static void draw(struct work *w, ID3D11RenderTargetView *view, FLOAT side, ID3D11PixelShader *ps)
{
    static const float blue[4] = {0, 0, 1, 1};
    D3D11_VIEWPORT viewport = {0, 0, side, side, 0, 1};
    UINT stride = 32, offset = 0;

    ID3D11DeviceContext_OMSetRenderTargets(w->context, 1, &view, NULL);
    ID3D11DeviceContext_ClearRenderTargetView(w->context, view, blue);
    ID3D11DeviceContext_RSSetViewports(w->context, 1, &viewport);
    ID3D11DeviceContext_IASetInputLayout(w->context, w->layout);
    ID3D11DeviceContext_IASetVertexBuffers(w->context, 0, 1, &w->vertices, &stride, &offset);
    ID3D11DeviceContext_IASetPrimitiveTopology(w->context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    ID3D11DeviceContext_VSSetShader(w->context, w->vs, NULL, 0);
    ID3D11DeviceContext_PSSetShader(w->context, ps, NULL, 0);
    ID3D11DeviceContext_Draw(w->context, 3, 0);
}

static void save(struct work *w, const char *path)
{
    D3D11_MAPPED_SUBRESOURCE m;
    FILE *f = fopen(path, "wb");

    if (!f) {
        fprintf(stderr, "triangle: cannot write %s\n", path);
        exit(1);
    }
    ID3D11DeviceContext_CopyResource(w->context, (ID3D11Resource *)w->staging, (ID3D11Resource *)w->target);
    NEED(ID3D11DeviceContext_Map(w->context, (ID3D11Resource *)w->staging, 0, D3D11_MAP_READ, 0, &m));
    fprintf(f, "P6\n%d %d\n255\n", SIDE, SIDE);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            fwrite((BYTE *)m.pData + y * m.RowPitch + x * 4, 1, 3, f);
    ID3D11DeviceContext_Unmap(w->context, (ID3D11Resource *)w->staging, 0);
    fclose(f);
}

static ULONG end(struct work *w)
{
    ID3D11DeviceContext_ClearState(w->context);
    ID3D11DeviceContext_Release(w->context);
    ID3D11InputLayout_Release(w->layout);
    ID3D11PixelShader_Release(w->ps);
    ID3D11VertexShader_Release(w->vs);
    ID3D11Buffer_Release(w->constants);
    ID3D11Buffer_Release(w->vertices);
    ID3D11Texture2D_Release(w->staging);
    ID3D11RenderTargetView_Release(w->view);
    ID3D11Texture2D_Release(w->target);
    return ID3D11Device_Release(w->device);
}

static void hang(struct work *w)
{
    static const WCHAR frame[] = {'f', 'r', 'a', 'm', 'e', 0}, fog[] = {'f', 'o', 'g', 0};
    D3D11_QUERY_DESC q = {D3D11_QUERY_EVENT, 0};
    D3D11_TEXTURE2D_DESC t = {.Width = LARGE,
                              .Height = LARGE,
                              .MipLevels = 1,
                              .ArraySize = 1,
                              .Format = DXGI_FORMAT_R8G8B8A8_UNORM,
                              .SampleDesc = {1, 0},
                              .BindFlags = D3D11_BIND_RENDER_TARGET};
    ID3D11RenderTargetView *view;
    ID3D11Texture2D *large;
    ID3DUserDefinedAnnotation *says = NULL;
    D3D11_MAPPED_SUBRESOURCE m;
    ID3D11PixelShader *ps;
    ID3D11Query *query;
    HRESULT hr = S_FALSE;

    NEED(ID3D11Device_CreatePixelShader(w->device, endless, sizeof(endless), NULL, &ps));
    NEED(ID3D11PixelShader_SetPrivateData(ps, &debug_name, 12, "endless fog!"));
    NEED(ID3D11Device_CreateQuery(w->device, &q, &query));
    NEED(ID3D11Device_CreateTexture2D(w->device, &t, NULL, &large));
    NEED(ID3D11Texture2D_SetPrivateData(large, &debug_name, 8, "fog mask"));
    NEED(ID3D11Device_CreateRenderTargetView(w->device, (ID3D11Resource *)large, NULL, &view));
    NEED(ID3D11DeviceContext_Map(w->context, (ID3D11Resource *)w->constants, 0, D3D11_MAP_WRITE_DISCARD, 0,
                                 &m));
    memset(m.pData, 0, 16);
    ID3D11DeviceContext_Unmap(w->context, (ID3D11Resource *)w->constants, 0);
    ID3D11DeviceContext_PSSetConstantBuffers(w->context, 0, 1, &w->constants);
    NEED(ID3D11DeviceContext_QueryInterface(w->context, &IID_ID3DUserDefinedAnnotation, (void **)&says));
    ID3DUserDefinedAnnotation_BeginEvent(says, frame);
    ID3DUserDefinedAnnotation_BeginEvent(says, fog);
    draw(w, view, LARGE, ps);
    ID3DUserDefinedAnnotation_EndEvent(says);
    ID3DUserDefinedAnnotation_EndEvent(says);
    ID3DUserDefinedAnnotation_Release(says);
    ID3D11DeviceContext_End(w->context, (ID3D11Asynchronous *)query);
    while (hr == S_FALSE)
        hr = ID3D11DeviceContext_GetData(w->context, (ID3D11Asynchronous *)query, NULL, 0, 0);
    printf("the draw: 0x%08X\n", (unsigned)hr);
    printf("the device: 0x%08X\n", (unsigned)ID3D11Device_GetDeviceRemovedReason(w->device));
    ID3D11RenderTargetView_Release(view);
    ID3D11Texture2D_Release(large);
    ID3D11Query_Release(query);
    ID3D11PixelShader_Release(ps);
}

static void present(struct work *w)
{
    DXGI_SWAP_CHAIN_DESC desc = {.BufferDesc = {.Format = DXGI_FORMAT_B8G8R8A8_UNORM},
                                 .SampleDesc = {1, 0},
                                 .BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT,
                                 .BufferCount = 1,
                                 .Windowed = FALSE};
    static const float green[4] = {0, 1, 0, 1};
    ID3D11RenderTargetView *view;
    ID3D11Texture2D *back;
    IDXGIFactory1 *factory;
    IDXGISwapChain *chain;

    NEED(CreateDXGIFactory1(&IID_IDXGIFactory1, (void **)&factory));
    NEED(IDXGIFactory1_CreateSwapChain(factory, (IUnknown *)w->device, &desc, &chain));
    NEED(IDXGISwapChain_GetBuffer(chain, 0, &IID_ID3D11Texture2D, (void **)&back));
    NEED(ID3D11Device_CreateRenderTargetView(w->device, (ID3D11Resource *)back, NULL, &view));
    for (int i = 0; i < 8; i++) {
        ID3D11DeviceContext_ClearRenderTargetView(w->context, view, green);
        NEED(IDXGISwapChain_Present(chain, 1, 0));
    }
    printf("presented\n");
    ID3D11RenderTargetView_Release(view);
    ID3D11Texture2D_Release(back);
    IDXGISwapChain_Release(chain);
    IDXGIFactory1_Release(factory);
}

int main(int argc, char **argv)
{
    struct work w;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 3) {
        fprintf(stderr,
                "usage: triangle FOLDER PICTURE [hang|present]; FOLDER has colour_vs.dxbc and colour_ps.dxbc "
                "(samples/shaders)\n");
        return 2;
    }
    make(&w, argv[1]);
    if (argc > 3 && !strcmp(argv[3], "hang")) {
        hang(&w);
        if (end(&w))
            printf("references are left\n");
        make(&w, argv[1]);
    }
    if (argc > 3 && !strcmp(argv[3], "present"))
        present(&w);
    draw(&w, w.view, SIDE, w.ps);
    save(&w, argv[2]);
    if (end(&w)) {
        printf("references are left\n");
        return 1;
    }
    printf("done\n");
    return 0;
}
