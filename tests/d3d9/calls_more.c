/* SPDX-License-Identifier: MIT */
/* calls_more.c: what the device has beyond the ABI's first version: volumes, clip planes, instances, blended vertices, bump maps, mip maps made
 * by themselves, floats, queries that count; and what programs of full screen ask for. */
#include "calls.h"

static void untextured(void)
{
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, NULL));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 1, NULL));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG1, D3DTA_DIFFUSE));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 1, D3DTSS_COLOROP, D3DTOP_DISABLE));
}

/* A rectangle in the clip space, which is the world's here. */
static void rectangle(uint32_t colour)
{
    const struct {
        float x, y, z;
        uint32_t colour;
        float u, v, w;
    } vertices[] = {{-1, 1, 0.5f, colour, 0, 0, 0.75f},
                    {1, 1, 0.5f, colour, 1, 0, 0.75f},
                    {-1, -1, 0.5f, colour, 0, 1, 0.75f},
                    {1, -1, 0.5f, colour, 1, 1, 0.75f}};

    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZ | D3DFVF_DIFFUSE | D3DFVF_TEX1 | D3DFVF_TEXCOORDSIZE3(0)));
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, vertices, sizeof(vertices[0])));
}

static void textured(void *texture)
{
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, texture));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG1, D3DTA_TEXTURE));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
}

static void check_volumes(void)
{
    IDirect3DVolumeTexture9 *system, *video;
    D3DLOCKED_BOX l;
    IDirect3DVolume9 *volume;
    D3DVOLUME_DESC desc;

    OK(IDirect3DDevice9Ex_CreateVolumeTexture(dev, 2, 2, 2, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_SYSTEMMEM, &system,
                                              NULL));
    OK(IDirect3DDevice9Ex_CreateVolumeTexture(dev, 2, 2, 2, 1, 0, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &video,
                                              NULL));
    OK(IDirect3DVolumeTexture9_LockBox(system, 0, &l, NULL, 0));
    for (int z = 0; z < 2; z++)
        for (int i = 0; i < 4; i++)
            *(uint32_t *)(void *)((uint8_t *)l.pBits + z * l.SlicePitch + i / 2 * l.RowPitch + i % 2 * 4) =
                z ? 0xFF00FF00 : 0xFFFF0000;
    OK(IDirect3DVolumeTexture9_UnlockBox(system, 0));
    IS(IDirect3DVolumeTexture9_LockBox(system, 0, &l, &((D3DBOX){0, 0, 2, 2, 1, 3}), 0), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_UpdateTexture(dev, (IDirect3DBaseTexture9 *)system,
                                        (IDirect3DBaseTexture9 *)video));
    OK(IDirect3DVolumeTexture9_GetVolumeLevel(video, 0, &volume));
    OK(IDirect3DVolume9_GetDesc(volume, &desc));
    TRUE_(desc.Depth == 2 && desc.Width == 2 && desc.Type == D3DRTYPE_VOLUME);
    IDirect3DVolume9_Release(volume);
    textured(video);
    clear(0);
    rectangle(0xFFFFFFFF);
    PIXEL(4, 4, 0x00FF00, 0); /* at w 0.75 it is the second slice */
    untextured();
    IDirect3DVolumeTexture9_Release(system);
    IDirect3DVolumeTexture9_Release(video);
}

static void check_clip_planes(void)
{
    const float right[4] = {1, 0, 0, 0}, none[4] = {0, 0, 0, 1};

    OK(IDirect3DDevice9Ex_SetClipPlane(dev, 1, right));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_CLIPPLANEENABLE, 2));
    clear(0xFF0000FF);
    rectangle(0xFFFF0000);
    PIXEL(4, 16, 0x0000FF, 0);
    PIXEL(28, 16, 0xFF0000, 0);
    OK(IDirect3DDevice9Ex_SetClipPlane(dev, 1, none));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_CLIPPLANEENABLE, 0));
}

static void check_instances(void)
{
    static const D3DVERTEXELEMENT9 elements[] = {{0, 0, D3DDECLTYPE_FLOAT2, 0, D3DDECLUSAGE_POSITION, 0},
                                                 {1, 0, D3DDECLTYPE_FLOAT2, 0, D3DDECLUSAGE_TEXCOORD, 0},
                                                 {1, 8, D3DDECLTYPE_D3DCOLOR, 0, D3DDECLUSAGE_COLOR, 0},
                                                 D3DDECL_END()};
    static const DWORD code[] = {/* vs_2_0: oPos.xy = v0 + v1; oD0 = v2 */
                                 0xFFFE0200, 0x0200001F, 0x80000000, 0x900F0000, 0x0200001F, 0x80000005,
                                 0x900F0001, 0x0200001F, 0x8000000A, 0x900F0002, 0x02000001, 0xC00F0000,
                                 0x90E40000, 0x03000002, 0xC0030000, 0x90E40000, 0x90E40001, 0x02000001,
                                 0xD00F0000, 0x90E40002, 0x0000FFFF};
    const float corners[4][2] = {{-1, 1}, {0, 1}, {-1, -1}, {0, -1}};
    const struct {
        float x, y;
        uint32_t colour;
    } instances[2] = {{0, 0, 0xFFFF0000}, {1, 0, 0xFF00FF00}};
    const uint16_t indices[6] = {0, 1, 2, 2, 1, 3};
    IDirect3DVertexDeclaration9 *decl;
    IDirect3DVertexShader9 *vs;
    IDirect3DVertexBuffer9 *vb[2];
    IDirect3DIndexBuffer9 *ib;
    void *p;

    OK(IDirect3DDevice9Ex_CreateVertexDeclaration(dev, elements, &decl));
    OK(IDirect3DDevice9Ex_CreateVertexShader(dev, code, &vs));
    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, sizeof(corners), 0, 0, D3DPOOL_DEFAULT, &vb[0], NULL));
    OK(IDirect3DDevice9Ex_CreateVertexBuffer(dev, sizeof(instances), 0, 0, D3DPOOL_DEFAULT, &vb[1], NULL));
    OK(IDirect3DDevice9Ex_CreateIndexBuffer(dev, sizeof(indices), 0, D3DFMT_INDEX16, D3DPOOL_DEFAULT, &ib,
                                            NULL));
    OK(IDirect3DVertexBuffer9_Lock(vb[0], 0, 0, &p, 0));
    memcpy(p, corners, sizeof(corners));
    OK(IDirect3DVertexBuffer9_Unlock(vb[0]));
    OK(IDirect3DVertexBuffer9_Lock(vb[1], 0, 0, &p, 0));
    memcpy(p, instances, sizeof(instances));
    OK(IDirect3DVertexBuffer9_Unlock(vb[1]));
    OK(IDirect3DIndexBuffer9_Lock(ib, 0, 0, &p, 0));
    memcpy(p, indices, sizeof(indices));
    OK(IDirect3DIndexBuffer9_Unlock(ib));
    OK(IDirect3DDevice9Ex_SetVertexDeclaration(dev, decl));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, vs));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, vb[0], 0, 8));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 1, vb[1], 0, 12));
    OK(IDirect3DDevice9Ex_SetIndices(dev, ib));
    OK(IDirect3DDevice9Ex_SetStreamSourceFreq(dev, 0, D3DSTREAMSOURCE_INDEXEDDATA | 2));
    OK(IDirect3DDevice9Ex_SetStreamSourceFreq(dev, 1, D3DSTREAMSOURCE_INSTANCEDATA | 1));
    clear(0xFF0000FF);
    OK(IDirect3DDevice9Ex_DrawIndexedPrimitive(dev, D3DPT_TRIANGLELIST, 0, 0, 4, 0, 2));
    PIXEL(4, 16, 0xFF0000, 0);
    PIXEL(28, 16, 0x00FF00, 0);
    OK(IDirect3DDevice9Ex_SetStreamSourceFreq(dev, 0, 1));
    OK(IDirect3DDevice9Ex_SetStreamSourceFreq(dev, 1, 1));
    OK(IDirect3DDevice9Ex_SetVertexShader(dev, NULL));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 0, NULL, 0, 0));
    OK(IDirect3DDevice9Ex_SetStreamSource(dev, 1, NULL, 0, 0));
    OK(IDirect3DDevice9Ex_SetIndices(dev, NULL));
    for (int i = 0; i < 2; i++)
        IDirect3DVertexBuffer9_Release(vb[i]);
    IDirect3DIndexBuffer9_Release(ib);
    IDirect3DVertexShader9_Release(vs);
    IDirect3DVertexDeclaration9_Release(decl);
}

/* Half of one matrix, which moves nothing, and half of one that moves by two: by one. */
static void check_blending(void)
{
    D3DMATRIX move = {{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1}}}, identity = move;
    const struct {
        float x, y, z, weight;
        uint32_t colour;
    } v[] = {{-1, 1, 0.5f, 0.5f, 0xFFFF0000},
             {0, 1, 0.5f, 0.5f, 0xFFFF0000},
             {-1, -1, 0.5f, 0.5f, 0xFFFF0000},
             {0, -1, 0.5f, 0.5f, 0xFFFF0000}};

    identity.m[3][0] = 0;
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_WORLDMATRIX(1), &move));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_VERTEXBLEND, D3DVBF_1WEIGHTS));
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_LIGHTING, FALSE));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZB1 | D3DFVF_DIFFUSE));
    clear(0xFF0000FF);
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, v, sizeof(v[0])));
    PIXEL(4, 16, 0x0000FF, 0);
    PIXEL(28, 16, 0xFF0000, 0);
    OK(IDirect3DDevice9Ex_SetRenderState(dev, D3DRS_VERTEXBLEND, D3DVBF_DISABLE));
    OK(IDirect3DDevice9Ex_SetTransform(dev, D3DTS_WORLDMATRIX(1), &identity));
}

/* What a bump map says, the next stage's coordinates move by: from the left texel to the right one. */
static void check_bumps(void)
{
    static const int8_t du_dv[2] = {127, 0};
    static const uint32_t colours[2] = {0xFFFF0000, 0xFF00FF00};
    const float half = 0.5f, zero = 0;
    const struct {
        float x, y, z, rhw, u0, v0, u1, v1;
    } v[] = {{-0.5f, -0.5f, 0.5f, 1, 0, 0, 0.25f, 0},
             {SIDE - 0.5f, -0.5f, 0.5f, 1, 0, 0, 0.25f, 0},
             {-0.5f, SIDE - 0.5f, 0.5f, 1, 0, 0, 0.25f, 0},
             {SIDE - 0.5f, SIDE - 0.5f, 0.5f, 1, 0, 0, 0.25f, 0}};
    IDirect3DTexture9 *bump = texture(1, 1, D3DFMT_V8U8, D3DPOOL_DEFAULT, du_dv, 2),
                      *picture = texture(2, 1, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, colours, 8);
    DWORD m[4];

    memcpy(&m[0], &half, 4);
    memcpy(&m[1], &zero, 4);
    memcpy(&m[2], &zero, 4);
    memcpy(&m[3], &zero, 4);
    OK(IDirect3DDevice9Ex_SetTexture(dev, 0, (IDirect3DBaseTexture9 *)bump));
    OK(IDirect3DDevice9Ex_SetTexture(dev, 1, (IDirect3DBaseTexture9 *)picture));
    for (DWORD i = 0; i < 4; i++)
        OK(IDirect3DDevice9Ex_SetTextureStageState(
            dev, 0, (D3DTEXTURESTAGESTATETYPE)(D3DTSS_BUMPENVMAT00 + i), m[i]));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLORARG1, D3DTA_TEXTURE));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 0, D3DTSS_COLOROP, D3DTOP_BUMPENVMAP));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 1, D3DTSS_COLORARG1, D3DTA_TEXTURE));
    OK(IDirect3DDevice9Ex_SetTextureStageState(dev, 1, D3DTSS_COLOROP, D3DTOP_SELECTARG1));
    OK(IDirect3DDevice9Ex_SetFVF(dev, D3DFVF_XYZRHW | D3DFVF_TEX2));
    clear(0);
    OK(IDirect3DDevice9Ex_DrawPrimitiveUP(dev, D3DPT_TRIANGLESTRIP, 2, v, sizeof(v[0])));
    PIXEL(16, 16, 0x00FF00, 0);
    untextured();
    IDirect3DTexture9_Release(bump);
    IDirect3DTexture9_Release(picture);
}

/* The second level of a texture with one level for the program is what the driver makes of the first. */
static void check_mips(void)
{
    static const uint32_t texels[4] = {0xFFFF0000, 0xFFFF0000, 0xFF0000FF, 0xFF0000FF};
    IDirect3DTexture9 *t = NULL, *system = texture(2, 2, D3DFMT_A8R8G8B8, D3DPOOL_SYSTEMMEM, texels, 8);

    IS(IDirect3D9Ex_CheckDeviceFormat(factory, 0, D3DDEVTYPE_HAL, D3DFMT_X8R8G8B8, D3DUSAGE_AUTOGENMIPMAP,
                                      D3DRTYPE_TEXTURE, D3DFMT_DXT1),
       D3DOK_NOAUTOGEN);
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 2, 2, 0, D3DUSAGE_AUTOGENMIPMAP, D3DFMT_A8R8G8B8,
                                        D3DPOOL_DEFAULT, &t, NULL));
    TRUE_(IDirect3DTexture9_GetLevelCount(t) == 1);
    OK(IDirect3DDevice9Ex_UpdateTexture(dev, (IDirect3DBaseTexture9 *)system, (IDirect3DBaseTexture9 *)t));
    textured(t);
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MIPFILTER, D3DTEXF_POINT));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MAXMIPLEVEL, 1));
    clear(0);
    rectangle(0xFFFFFFFF);
    PIXEL(16, 4, 0x7F007F, 1);
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MAXMIPLEVEL, 0));
    OK(IDirect3DDevice9Ex_SetSamplerState(dev, 0, D3DSAMP_MIPFILTER, D3DTEXF_NONE));
    untextured();
    IDirect3DTexture9_Release(t);
    IDirect3DTexture9_Release(system);
}

/* A target of floats holds what no target of bytes can; one of one channel reads as ones beside it. */
static void check_floats(void)
{
    IDirect3DSurface9 *back, *target, *copy;
    IDirect3DTexture9 *t, *one;
    D3DLOCKED_RECT l;
    const float red = 0.5f;

    OK(IDirect3DDevice9Ex_GetRenderTarget(dev, 0, &back));
    OK(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 1, D3DUSAGE_RENDERTARGET, D3DFMT_A32B32G32R32F,
                                        D3DPOOL_DEFAULT, &t, NULL));
    OK(IDirect3DTexture9_GetSurfaceLevel(t, 0, &target));
    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, 4, 4, D3DFMT_A32B32G32R32F, D3DPOOL_SYSTEMMEM,
                                                      &copy, NULL));
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, target));
    OK(IDirect3DDevice9Ex_Clear(dev, 0, NULL, D3DCLEAR_TARGET, 0x80FF0040, 1, 0));
    OK(IDirect3DDevice9Ex_GetRenderTargetData(dev, target, copy));
    OK(IDirect3DSurface9_LockRect(copy, &l, NULL, D3DLOCK_READONLY));
    TRUE_(((float *)l.pBits)[0] == 1 && ((float *)l.pBits)[2] == 64 / 255.0f);
    OK(IDirect3DSurface9_UnlockRect(copy));
    OK(IDirect3DDevice9Ex_SetRenderTarget(dev, 0, back));
    one = texture(1, 1, D3DFMT_R32F, D3DPOOL_DEFAULT, &red, 4);
    textured(one);
    clear(0);
    rectangle(0xFFFFFFFF);
    PIXEL(16, 16, 0x80FFFF, 1);
    untextured();
    IDirect3DTexture9_Release(one);
    IDirect3DSurface9_Release(copy);
    IDirect3DSurface9_Release(target);
    IDirect3DTexture9_Release(t);
    IDirect3DSurface9_Release(back);
}

/* ATI2: the first half of a block is green, the second red, and blue is one; a row is said to be as long as it is wide. */
static void check_two_channels(void)
{
    static const uint8_t block[16] = {0x7F, 0x7F};
    IDirect3DTexture9 *t;
    D3DLOCKED_RECT l;

    OK(IDirect3DDevice9Ex_CreateTexture(dev, 4, 4, 1, D3DUSAGE_DYNAMIC,
                                        (D3DFORMAT)MAKEFOURCC('A', 'T', 'I', '2'), D3DPOOL_DEFAULT, &t,
                                        NULL));
    OK(IDirect3DTexture9_LockRect(t, 0, &l, NULL, 0));
    TRUE_(l.Pitch == 4);
    memcpy(l.pBits, block, sizeof(block));
    OK(IDirect3DTexture9_UnlockRect(t, 0));
    textured(t);
    clear(0);
    rectangle(0xFFFFFFFF);
    PIXEL(16, 16, 0x007FFF, 1);
    untextured();
    IDirect3DTexture9_Release(t);
}

static HRESULT wait_for(IDirect3DQuery9 *q, void *data, DWORD size)
{
    HRESULT hr = S_FALSE;

    for (int i = 0; i < 10000000 && hr == S_FALSE; i++)
        hr = IDirect3DQuery9_GetData(q, data, size, D3DGETDATA_FLUSH);
    return hr;
}

static void check_counts(void)
{
    IDirect3DQuery9 *samples, *time[2], *frequency;
    UINT64 when[2] = {0}, hertz = 0, wide = UINT64_MAX;
    DWORD count = 0;

    OK(IDirect3DDevice9Ex_CreateQuery(dev, D3DQUERYTYPE_OCCLUSION, &samples));
    OK(IDirect3DDevice9Ex_CreateQuery(dev, D3DQUERYTYPE_TIMESTAMPFREQ, &frequency));
    for (int i = 0; i < 2; i++)
        OK(IDirect3DDevice9Ex_CreateQuery(dev, D3DQUERYTYPE_TIMESTAMP, &time[i]));
    clear(0);
    OK(IDirect3DQuery9_Issue(time[0], D3DISSUE_END));
    OK(IDirect3DQuery9_Issue(samples, D3DISSUE_BEGIN));
    quad(0, 0, 8, 8, 0.5f, 0xFFFFFFFF);
    quad(0, 0, 8, 8, 0.75f, 0xFFFFFFFF); /* behind it */
    IS(IDirect3DQuery9_GetData(samples, &count, sizeof(count), 0), S_FALSE);
    OK(IDirect3DQuery9_Issue(samples, D3DISSUE_END));
    quad(8, 8, 16, 16, 0.5f, 0xFFFFFFFF);
    OK(IDirect3DQuery9_Issue(time[1], D3DISSUE_END));
    OK(IDirect3DQuery9_Issue(frequency, D3DISSUE_END));
    OK(wait_for(samples, &count, sizeof(count)));
    TRUE_(count == 64);
    OK(IDirect3DQuery9_GetData(samples, &wide, sizeof(wide), 0));
    TRUE_(wide == 64);
    for (int i = 0; i < 2; i++)
        OK(wait_for(time[i], &when[i], sizeof(when[i])));
    OK(wait_for(frequency, &hertz, sizeof(hertz)));
    TRUE_(hertz == 1000000000 && when[0] <= when[1]);
    IDirect3DQuery9_Release(samples);
    IDirect3DQuery9_Release(frequency);
    for (int i = 0; i < 2; i++)
        IDirect3DQuery9_Release(time[i]);
}

static void check_rest(void)
{
    D3DGAMMARAMP ramp;
    D3DRASTER_STATUS status;
    IDirect3DSurface9 *odd;
    float far_away[4] = {1, 2, 3, 4}, got[4] = {0};

    IDirect3DDevice9Ex_GetGammaRamp(dev, 0, &ramp);
    TRUE_(ramp.red[1] == 257 && ramp.blue[255] == 65535);
    OK(IDirect3DDevice9Ex_GetRasterStatus(dev, 0, &status));
    IS(IDirect3DDevice9Ex_GetRasterStatus(dev, 1, &status), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, 6, 6, D3DFMT_A8R8G8B8, D3DPOOL_DEFAULT, &odd,
                                                      NULL));
    IS(IDirect3DDevice9Ex_SetCursorProperties(dev, 0, 0, odd), D3DERR_INVALIDCALL);
    TRUE_(!IDirect3DDevice9Ex_ShowCursor(dev, TRUE) && !IDirect3DDevice9Ex_ShowCursor(dev, TRUE));
    IDirect3DSurface9_Release(odd);
    IS(IDirect3DDevice9Ex_SetVertexShaderConstantF(dev, 256, far_away, 1), D3DERR_INVALIDCALL);
    OK(IDirect3DDevice9Ex_SetClipPlane(dev, 9, far_away)); /* the last that there is */
    OK(IDirect3DDevice9Ex_GetClipPlane(dev, 5, got));
    TRUE_(!memcmp(far_away, got, sizeof(got)));
    IS(IDirect3DDevice9Ex_DrawTriPatch(dev, 1, NULL, NULL), D3DERR_INVALIDCALL);
}

void check_more(void)
{
    untextured();
    check_volumes();
    check_clip_planes();
    check_instances();
    check_blending();
    check_bumps();
    check_mips();
    check_floats();
    check_two_channels();
    check_counts();
    check_rest();
    untextured();
}

void expect_front(uint32_t want)
{
    IDirect3DSurface9 *front;
    D3DLOCKED_RECT l;
    uint32_t first, last;

    OK(IDirect3DDevice9Ex_CreateOffscreenPlainSurface(dev, SIDE, SIDE, D3DFMT_A8R8G8B8, D3DPOOL_SYSTEMMEM,
                                                      &front, NULL));
    OK(IDirect3DDevice9Ex_GetFrontBufferData(dev, 0, front));
    OK(IDirect3DSurface9_LockRect(front, &l, NULL, D3DLOCK_READONLY));
    memcpy(&first, l.pBits, 4);
    memcpy(&last, (uint8_t *)l.pBits + (SIDE - 1) * l.Pitch + (SIDE - 1) * 4, 4);
    OK(IDirect3DSurface9_UnlockRect(front));
    IDirect3DSurface9_Release(front);
    if (((first ^ want) | (last ^ want)) & 0xFFFFFF) {
        printf("the front buffer is %08X to %08X, not %08X\n", first, last, want);
        failures++;
    }
}

/* More frames than may be in flight, of which the last one that was presented is the front buffer's, whatever still waits. */
void check_presenting(void)
{
    static const D3DFORMAT formats[] = {D3DFMT_X8R8G8B8, D3DFMT_R5G6B5};
    D3DPRESENT_PARAMETERS p = present_params();
    UINT count;

    for (uint32_t i = 0; i < 40; i++) {
        HRESULT hr;

        if (i == 20)
            OK(IDirect3DDevice9Ex_SetMaximumFrameLatency(dev, 1));
        clear(0xFF000000 | i * 0x050301);
        do
            hr = IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, i & 1 ? D3DPRESENT_DONOTWAIT : 0);
        while (i & 1 && hr == D3DERR_WASSTILLDRAWING);
        IS(hr, D3D_OK);
        if (i % 13 == 12)
            expect_front(i * 0x050301);
    }
    clear(0xFF123456); /* not presented */
    expect_front(39 * 0x050301);
    for (int i = 0; i < 2; i++) { /* with frames in flight */
        IDirect3DSwapChain9 *chain;

        OK(IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0));
        p.BackBufferFormat = formats[i];
        OK(IDirect3DDevice9Ex_ResetEx(dev, &p, NULL));
        expect_front(0);
        clear(0xFFFF00FF);
        OK(IDirect3DDevice9Ex_PresentEx(dev, NULL, NULL, NULL, NULL, 0));
        expect_front(0xFF00FF);
        OK(IDirect3DDevice9Ex_GetSwapChain(dev, 0, &chain));
        OK(((IDirect3DSwapChain9Ex *)chain)
               ->lpVtbl->GetLastPresentCount((IDirect3DSwapChain9Ex *)chain, &count));
        TRUE_(count == 1);
        IDirect3DSwapChain9_Release(chain);
    }
}
