/* SPDX-License-Identifier: MIT */
/* d3dumddi9.h: the functions of a user-mode driver for Direct3D 9.
 *
 * Names, members, order and values: the WDK's public documentation of d3dumddi.h, as of Windows 7.
 */
#pragma once

#include "wddm/d3dumddi9_types.h"

/* F(slot, type, parameters behind the driver's device), in the order of the table. What nobody here calls (video, overlays,
 * content protection) takes a pointer that is not declared further. */
#define D3DDDI_DEVICE_FUNCTIONS(F)                                                                           \
    F(SetRenderState, SETRENDERSTATE, CONST D3DDDIARG_RENDERSTATE *)                                         \
    F(UpdateWInfo, UPDATEWINFO, CONST D3DDDIARG_WINFO *)                                                     \
    F(ValidateDevice, VALIDATEDEVICE, D3DDDIARG_VALIDATETEXTURESTAGESTATE *)                                 \
    F(SetTextureStageState, SETTEXTURESTAGESTATE, CONST D3DDDIARG_TEXTURESTAGESTATE *)                       \
    F(SetTexture, SETTEXTURE, UINT stage, HANDLE resource)                                                   \
    F(SetPixelShader, SETPIXELSHADER, HANDLE shader)                                                         \
    F(SetPixelShaderConst, SETPIXELSHADERCONST, CONST D3DDDIARG_SETPIXELSHADERCONST *, CONST FLOAT *)        \
    F(SetStreamSourceUm, SETSTREAMSOURCEUM, CONST D3DDDIARG_SETSTREAMSOURCEUM *, CONST VOID *)               \
    F(SetIndices, SETINDICES, CONST D3DDDIARG_SETINDICES *)                                                  \
    F(SetIndicesUm, SETINDICESUM, UINT size, CONST VOID *)                                                   \
    F(DrawPrimitive, DRAWPRIMITIVE, CONST D3DDDIARG_DRAWPRIMITIVE *, CONST UINT *flags)                      \
    F(DrawIndexedPrimitive, DRAWINDEXEDPRIMITIVE, CONST D3DDDIARG_DRAWINDEXEDPRIMITIVE *)                    \
    F(DrawRectPatch, DRAWRECTPATCH, CONST D3DDDIARG_DRAWRECTPATCH *, CONST struct _D3DDDIRECTPATCH_INFO *,   \
      CONST FLOAT *)                                                                                         \
    F(DrawTriPatch, DRAWTRIPATCH, CONST D3DDDIARG_DRAWTRIPATCH *, CONST struct _D3DDDITRIPATCH_INFO *,       \
      CONST FLOAT *)                                                                                         \
    F(DrawPrimitive2, DRAWPRIMITIVE2, CONST D3DDDIARG_DRAWPRIMITIVE2 *)                                      \
    F(DrawIndexedPrimitive2, DRAWINDEXEDPRIMITIVE2, CONST D3DDDIARG_DRAWINDEXEDPRIMITIVE2 *,                 \
      UINT index_size, CONST VOID *indices, CONST UINT *flags)                                               \
    F(VolBlt, VOLBLT, CONST D3DDDIARG_VOLUMEBLT *)                                                           \
    F(BufBlt, BUFBLT, CONST D3DDDIARG_BUFFERBLT *)                                                           \
    F(TexBlt, TEXBLT, CONST D3DDDIARG_TEXBLT *)                                                              \
    F(StateSet, STATESET, VOID *)                                                                            \
    F(SetPriority, SETPRIORITY, CONST D3DDDIARG_SETPRIORITY *)                                               \
    F(Clear, CLEAR, CONST D3DDDIARG_CLEAR *, UINT rects, CONST RECT *)                                       \
    F(UpdatePalette, UPDATEPALETTE, CONST D3DDDIARG_UPDATEPALETTE *, CONST VOID *)                           \
    F(SetPalette, SETPALETTE, VOID *)                                                                        \
    F(SetVertexShaderConst, SETVERTEXSHADERCONST, CONST D3DDDIARG_SETVERTEXSHADERCONST *, CONST VOID *)      \
    F(MultiplyTransform, MULTIPLYTRANSFORM, CONST D3DDDIARG_MULTIPLYTRANSFORM *)                             \
    F(SetTransform, SETTRANSFORM, CONST D3DDDIARG_SETTRANSFORM *)                                            \
    F(SetViewport, SETVIEWPORT, CONST D3DDDIARG_VIEWPORTINFO *)                                              \
    F(SetZRange, SETZRANGE, CONST D3DDDIARG_ZRANGE *)                                                        \
    F(SetMaterial, SETMATERIAL, CONST D3DDDIARG_SETMATERIAL *)                                               \
    F(SetLight, SETLIGHT, CONST D3DDDIARG_SETLIGHT *, CONST D3DDDI_LIGHT *)                                  \
    F(CreateLight, CREATELIGHT, CONST D3DDDIARG_CREATELIGHT *)                                               \
    F(DestroyLight, DESTROYLIGHT, CONST D3DDDIARG_DESTROYLIGHT *)                                            \
    F(SetClipPlane, SETCLIPPLANE, CONST D3DDDIARG_SETCLIPPLANE *)                                            \
    F(GetInfo, GETINFO, UINT id, VOID *, UINT size)                                                          \
    F(Lock, LOCK, D3DDDIARG_LOCK *)                                                                          \
    F(Unlock, UNLOCK, CONST D3DDDIARG_UNLOCK *)                                                              \
    F(CreateResource, CREATERESOURCE, D3DDDIARG_CREATERESOURCE *)                                            \
    F(DestroyResource, DESTROYRESOURCE, HANDLE resource)                                                     \
    F(SetDisplayMode, SETDISPLAYMODE, CONST D3DDDIARG_SETDISPLAYMODE *)                                      \
    F(Present, PRESENT, CONST D3DDDIARG_PRESENT *)                                                           \
    F(Flush, FLUSH)                                                                                          \
    F(CreateVertexShaderFunc, CREATEVERTEXSHADERFUNC, D3DDDIARG_CREATEVERTEXSHADERFUNC *, CONST UINT *code)  \
    F(DeleteVertexShaderFunc, DELETEVERTEXSHADERFUNC, HANDLE shader)                                         \
    F(SetVertexShaderFunc, SETVERTEXSHADERFUNC, HANDLE shader)                                               \
    F(CreateVertexShaderDecl, CREATEVERTEXSHADERDECL, D3DDDIARG_CREATEVERTEXSHADERDECL *,                    \
      CONST D3DDDIVERTEXELEMENT *)                                                                           \
    F(DeleteVertexShaderDecl, DELETEVERTEXSHADERDECL, HANDLE declaration)                                    \
    F(SetVertexShaderDecl, SETVERTEXSHADERDECL, HANDLE declaration)                                          \
    F(SetVertexShaderConstI, SETVERTEXSHADERCONSTI, CONST D3DDDIARG_SETVERTEXSHADERCONSTI *, CONST INT *)    \
    F(SetVertexShaderConstB, SETVERTEXSHADERCONSTB, CONST D3DDDIARG_SETVERTEXSHADERCONSTB *, CONST BOOL *)   \
    F(SetScissorRect, SETSCISSORRECT, CONST RECT *)                                                          \
    F(SetStreamSource, SETSTREAMSOURCE, CONST D3DDDIARG_SETSTREAMSOURCE *)                                   \
    F(SetStreamSourceFreq, SETSTREAMSOURCEFREQ, CONST D3DDDIARG_SETSTREAMSOURCEFREQ *)                       \
    F(SetConvolutionKernelMono, SETCONVOLUTIONKERNELMONO, VOID *)                                            \
    F(ComposeRects, COMPOSERECTS, VOID *)                                                                    \
    F(Blt, BLT, CONST D3DDDIARG_BLT *)                                                                       \
    F(ColorFill, COLORFILL, CONST D3DDDIARG_COLORFILL *)                                                     \
    F(DepthFill, DEPTHFILL, CONST D3DDDIARG_DEPTHFILL *)                                                     \
    F(CreateQuery, CREATEQUERY, D3DDDIARG_CREATEQUERY *)                                                     \
    F(DestroyQuery, DESTROYQUERY, HANDLE query)                                                              \
    F(IssueQuery, ISSUEQUERY, CONST D3DDDIARG_ISSUEQUERY *)                                                  \
    F(GetQueryData, GETQUERYDATA, CONST D3DDDIARG_GETQUERYDATA *)                                            \
    F(SetRenderTarget, SETRENDERTARGET, CONST D3DDDIARG_SETRENDERTARGET *)                                   \
    F(SetDepthStencil, SETDEPTHSTENCIL, CONST D3DDDIARG_SETDEPTHSTENCIL *)                                   \
    F(GenerateMipSubLevels, GENERATEMIPSUBLEVELS, CONST D3DDDIARG_GENERATEMIPSUBLEVELS *)                    \
    F(SetPixelShaderConstI, SETPIXELSHADERCONSTI, CONST D3DDDIARG_SETPIXELSHADERCONSTI *, CONST INT *)       \
    F(SetPixelShaderConstB, SETPIXELSHADERCONSTB, CONST D3DDDIARG_SETPIXELSHADERCONSTB *, CONST BOOL *)      \
    F(CreatePixelShader, CREATEPIXELSHADER, D3DDDIARG_CREATEPIXELSHADER *, CONST UINT *code)                 \
    F(DeletePixelShader, DELETEPIXELSHADER, HANDLE shader)                                                   \
    F(CreateDecodeDevice, CREATEDECODEDEVICE, VOID *)                                                        \
    F(DestroyDecodeDevice, DESTROYDECODEDEVICE, VOID *)                                                      \
    F(SetDecodeRenderTarget, SETDECODERENDERTARGET, VOID *)                                                  \
    F(DecodeBeginFrame, DECODEBEGINFRAME, VOID *)                                                            \
    F(DecodeEndFrame, DECODEENDFRAME, VOID *)                                                                \
    F(DecodeExecute, DECODEEXECUTE, VOID *)                                                                  \
    F(DecodeExtensionExecute, DECODEEXTENSIONEXECUTE, VOID *)                                                \
    F(CreateVideoProcessDevice, CREATEVIDEOPROCESSDEVICE, VOID *)                                            \
    F(DestroyVideoProcessDevice, DESTROYVIDEOPROCESSDEVICE, VOID *)                                          \
    F(VideoProcessBeginFrame, VIDEOPROCESSBEGINFRAME, VOID *)                                                \
    F(VideoProcessEndFrame, VIDEOPROCESSENDFRAME, VOID *)                                                    \
    F(SetVideoProcessRenderTarget, SETVIDEOPROCESSRENDERTARGET, VOID *)                                      \
    F(VideoProcessBlt, VIDEOPROCESSBLT, VOID *)                                                              \
    F(CreateExtensionDevice, CREATEEXTENSIONDEVICE, VOID *)                                                  \
    F(DestroyExtensionDevice, DESTROYEXTENSIONDEVICE, VOID *)                                                \
    F(ExtensionExecute, EXTENSIONEXECUTE, VOID *)                                                            \
    F(CreateOverlay, CREATEOVERLAY, VOID *)                                                                  \
    F(UpdateOverlay, UPDATEOVERLAY, VOID *)                                                                  \
    F(FlipOverlay, FLIPOVERLAY, VOID *)                                                                      \
    F(GetOverlayColorControls, GETOVERLAYCOLORCONTROLS, VOID *)                                              \
    F(SetOverlayColorControls, SETOVERLAYCOLORCONTROLS, VOID *)                                              \
    F(DestroyOverlay, DESTROYOVERLAY, VOID *)                                                                \
    F(DestroyDevice, DESTROYDEVICE)                                                                          \
    F(QueryResourceResidency, QUERYRESOURCERESIDENCY, CONST D3DDDIARG_QUERYRESOURCERESIDENCY *)              \
    F(OpenResource, OPENRESOURCE, D3DDDIARG_OPENRESOURCE *)                                                  \
    F(GetCaptureAllocationHandle, GETCAPTUREALLOCATIONHANDLE, VOID *)                                        \
    F(CaptureToSysMem, CAPTURETOSYSMEM, VOID *)                                                              \
    F(LockAsync, LOCKASYNC, VOID *)                                                                          \
    F(UnlockAsync, UNLOCKASYNC, VOID *)                                                                      \
    F(Rename, RENAME, VOID *)                                                                                \
    F(CreateVideoProcessor, DXVAHD_CREATEVIDEOPROCESSOR, VOID *)                                             \
    F(SetVideoProcessBltState, DXVAHD_SETVIDEOPROCESSBLTSTATE, VOID *)                                       \
    F(GetVideoProcessBltStatePrivate, DXVAHD_GETVIDEOPROCESSBLTSTATEPRIVATE, VOID *)                         \
    F(SetVideoProcessStreamState, DXVAHD_SETVIDEOPROCESSSTREAMSTATE, VOID *)                                 \
    F(GetVideoProcessStreamStatePrivate, DXVAHD_GETVIDEOPROCESSSTREAMSTATEPRIVATE, VOID *)                   \
    F(VideoProcessBltHD, DXVAHD_VIDEOPROCESSBLTHD, VOID *)                                                   \
    F(DestroyVideoProcessor, DXVAHD_DESTROYVIDEOPROCESSOR, VOID *)                                           \
    F(CreateAuthenticatedChannel, CREATEAUTHENTICATEDCHANNEL, VOID *)                                        \
    F(AuthenticatedChannelKeyExchange, AUTHENTICATEDCHANNELKEYEXCHANGE, VOID *)                              \
    F(QueryAuthenticatedChannel, QUERYAUTHENTICATEDCHANNEL, VOID *)                                          \
    F(ConfigureAuthenticatedChannel, CONFIGUREAUTHENICATEDCHANNEL, VOID *)                                   \
    F(DestroyAuthenticatedChannel, DESTROYAUTHENTICATEDCHANNEL, VOID *)                                      \
    F(CreateCryptoSession, CREATECRYPTOSESSION, VOID *)                                                      \
    F(CryptoSessionKeyExchange, CRYPTOSESSIONKEYEXCHANGE, VOID *)                                            \
    F(DestroyCryptoSession, DESTROYCRYPTOSESSION, VOID *)                                                    \
    F(EncryptionBlt, ENCRYPTIONBLT, VOID *)                                                                  \
    F(GetPitch, GETPITCH, VOID *)                                                                            \
    F(StartSessionKeyRefresh, STARTSESSIONKEYREFRESH, VOID *)                                                \
    F(FinishSessionKeyRefresh, FINISHSESSIONKEYREFRESH, VOID *)                                              \
    F(GetEncryptionBltKey, GETENCRYPTIONBLTKEY, VOID *)                                                      \
    F(DecryptionBlt, DECRYPTIONBLT, VOID *)                                                                  \
    F(ResolveSharedResource, RESOLVESHAREDRESOURCE, VOID *)

#define D3DDDI_FUNCTION_TYPE(slot, type, ...)                                                                \
    typedef HRESULT(APIENTRY *PFND3DDDI_##type)(HANDLE device, ##__VA_ARGS__);
D3DDDI_DEVICE_FUNCTIONS(D3DDDI_FUNCTION_TYPE)
#undef D3DDDI_FUNCTION_TYPE

typedef struct _D3DDDI_DEVICEFUNCS {
#define D3DDDI_FUNCTION_SLOT(slot, type, ...) PFND3DDDI_##type pfn##slot;
    D3DDDI_DEVICE_FUNCTIONS(D3DDDI_FUNCTION_SLOT)
#undef D3DDDI_FUNCTION_SLOT
} D3DDDI_DEVICEFUNCS;
