/* SPDX-License-Identifier: MIT */
/* d3dumddi9_types.h: what a runtime and a user-mode driver for Direct3D 9 (OpenAdapter) say to each other: adapters, resources,
 * states, shaders, draws, copies, queries, presenting.
 *
 * Names, members, order and values: the WDK's public documentation of d3dumddi.h, as of Windows 7. Enumerations that are the
 * API's own (d3d9types.h) travel as UINT here.
 */
#pragma once

#include "wddm/d3dkmthk.h"
#include "wddm/d3dumddi.h"

typedef struct _D3DDDIRANGE {
    UINT Offset;
    UINT Size;
} D3DDDIRANGE;

typedef struct _D3DDDIBOX {
    UINT Left;
    UINT Top;
    UINT Right;
    UINT Bottom;
    UINT Front;
    UINT Back;
} D3DDDIBOX;

/* ---- adapters and devices ------------------------------------------------- */

#define D3D_UMD_INTERFACE_VERSION_WIN7 0x1000Bu

typedef enum _D3DDDICAPS_TYPE {
    D3DDDICAPS_DDRAW = 1,
    D3DDDICAPS_DDRAW_MODE_SPECIFIC = 2,
    D3DDDICAPS_GETFORMATCOUNT = 3,
    D3DDDICAPS_GETFORMATDATA = 4,
    D3DDDICAPS_GETMULTISAMPLEQUALITYLEVELS = 5,
    D3DDDICAPS_GETD3DQUERYCOUNT = 6,
    D3DDDICAPS_GETD3DQUERYDATA = 7,
    D3DDDICAPS_GETD3D9CAPS = 13
} D3DDDICAPS_TYPE;

typedef struct _D3DDDIARG_GETCAPS {
    D3DDDICAPS_TYPE Type;
    VOID *pInfo;
    VOID *pData;
    UINT DataSize;
} D3DDDIARG_GETCAPS;

#define FORMATOP_TEXTURE                              0x00000001u
#define FORMATOP_VOLUMETEXTURE                        0x00000002u
#define FORMATOP_CUBETEXTURE                          0x00000004u
#define FORMATOP_OFFSCREEN_RENDERTARGET               0x00000008u
#define FORMATOP_SAME_FORMAT_RENDERTARGET             0x00000010u
#define FORMATOP_ZSTENCIL                             0x00000040u
#define FORMATOP_ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH  0x00000080u
#define FORMATOP_SAME_FORMAT_UP_TO_ALPHA_RENDERTARGET 0x00000100u
#define FORMATOP_DISPLAYMODE                          0x00000400u
#define FORMATOP_3DACCELERATION                       0x00000800u
#define FORMATOP_CONVERT_TO_ARGB                      0x00002000u
#define FORMATOP_OFFSCREENPLAIN                       0x00004000u
#define FORMATOP_SRGBREAD                             0x00008000u
#define FORMATOP_BUMPMAP                              0x00010000u
#define FORMATOP_SRGBWRITE                            0x00100000u
#define FORMATOP_NOALPHABLEND                         0x00200000u
#define FORMATOP_AUTOGENMIPMAP                        0x00400000u
#define FORMATOP_VERTEXTEXTURE                        0x00800000u

/* One of the array that D3DDDICAPS_GETFORMATDATA fills in. */
typedef struct _FORMATOP {
    UINT Format; /* D3DDDIFORMAT */
    UINT Operations;
    UINT FlipMsTypes;
    UINT BltMsTypes;
    UINT PrivateFormatBitCount;
} FORMATOP;

/* What D3DDDICAPS_GETMULTISAMPLEQUALITYLEVELS is asked with, and answers. */
typedef struct _DDIMULTISAMPLEQUALITYLEVELSDATA {
    UINT Format; /* D3DDDIFORMAT */
    BOOL Flip;
    UINT MsType; /* D3DDDIMULTISAMPLE_TYPE */
    UINT QualityLevels;
} DDIMULTISAMPLEQUALITYLEVELSDATA;

typedef struct _D3DDDI_CREATEDEVICEFLAGS {
    union {
        struct {
            UINT AllowMultithreading : 1;
            UINT AllowFlipBatching : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
} D3DDDI_CREATEDEVICEFLAGS;

struct _D3DDDI_DEVICEFUNCS;

typedef struct _D3DDDIARG_CREATEDEVICE {
    HANDLE hDevice; /* in: the runtime's; out: the driver's */
    UINT Interface;
    UINT Version;
    CONST D3DDDI_DEVICECALLBACKS *pCallbacks;
    VOID *pCommandBuffer;
    UINT CommandBufferSize;
    D3DDDI_ALLOCATIONLIST *pAllocationList;
    UINT AllocationListSize;
    D3DDDI_PATCHLOCATIONLIST *pPatchLocationList;
    UINT PatchLocationListSize;
    struct _D3DDDI_DEVICEFUNCS *pDeviceFuncs;
    D3DDDI_CREATEDEVICEFLAGS Flags;
    ULONGLONG CommandBuffer;
} D3DDDIARG_CREATEDEVICE;

typedef HRESULT(APIENTRY *PFND3DDDI_GETCAPS)(HANDLE adapter, CONST D3DDDIARG_GETCAPS *);
typedef HRESULT(APIENTRY *PFND3DDDI_CREATEDEVICE)(HANDLE adapter, D3DDDIARG_CREATEDEVICE *);
typedef HRESULT(APIENTRY *PFND3DDDI_CLOSEADAPTER)(HANDLE adapter);

typedef struct _D3DDDI_ADAPTERFUNCS {
    PFND3DDDI_GETCAPS pfnGetCaps;
    PFND3DDDI_CREATEDEVICE pfnCreateDevice;
    PFND3DDDI_CLOSEADAPTER pfnCloseAdapter;
} D3DDDI_ADAPTERFUNCS;

typedef struct _D3DDDIARG_OPENADAPTER {
    HANDLE hAdapter; /* in: the runtime's; out: the driver's */
    UINT Interface;
    UINT Version;
    CONST D3DDDI_ADAPTERCALLBACKS *pAdapterCallbacks;
    D3DDDI_ADAPTERFUNCS *pAdapterFuncs;
    UINT DriverVersion; /* out: D3D_UMD_INTERFACE_VERSION_* */
} D3DDDIARG_OPENADAPTER;

typedef HRESULT(APIENTRY *PFND3DDDI_OPENADAPTER)(D3DDDIARG_OPENADAPTER *);

/* ---- resources ------------------------------------------------------------ */

typedef enum _D3DDDI_POOL {
    D3DDDIPOOL_SYSTEMMEM = 1,
    D3DDDIPOOL_VIDEOMEMORY = 2,
    D3DDDIPOOL_LOCALVIDMEM = 3,
    D3DDDIPOOL_NONLOCALVIDMEM = 4
} D3DDDI_POOL;

typedef struct _D3DDDI_SURFACEINFO {
    UINT Width; /* of buffers: bytes */
    UINT Height;
    UINT Depth;
    CONST VOID *pSysMem; /* D3DDDIPOOL_SYSTEMMEM: the runtime's memory, which the resource is */
    UINT SysMemPitch;
    UINT SysMemSlicePitch;
} D3DDDI_SURFACEINFO;

typedef struct _D3DDDI_RESOURCEFLAGS {
    union {
        struct {
            UINT RenderTarget : 1;
            UINT ZBuffer : 1;
            UINT Dynamic : 1;
            UINT HintStatic : 1;
            UINT AutogenMipmap : 1;
            UINT DMap : 1;
            UINT WriteOnly : 1;
            UINT NotLockable : 1;
            UINT Points : 1;
            UINT RtPatches : 1;
            UINT NPatches : 1;
            UINT SharedResource : 1;
            UINT DiscardRenderTarget : 1;
            UINT Video : 1;
            UINT CaptureBuffer : 1;
            UINT Primary : 1;
            UINT Texture : 1;
            UINT CubeMap : 1;
            UINT Volume : 1;
            UINT VertexBuffer : 1;
            UINT IndexBuffer : 1;
            UINT DecodeRenderTarget : 1;
            UINT DecodeCompressedBuffer : 1;
            UINT VideoProcessRenderTarget : 1;
            UINT CpuOptimized : 1;
            UINT MightDrawFromLocked : 1;
            UINT Overlay : 1;
            UINT MatchGdiPrimary : 1;
            UINT InterlacedRefresh : 1;
            UINT TextApi : 1;
            UINT RestrictedContent : 1;
            UINT RestrictSharedAccess : 1;
        };
        UINT Value;
    };
} D3DDDI_RESOURCEFLAGS;

typedef struct _D3DDDIARG_CREATERESOURCE {
    D3DDDIFORMAT Format;
    D3DDDI_POOL Pool;
    UINT MultisampleType; /* D3DMULTISAMPLE_TYPE */
    UINT MultisampleQuality;
    CONST D3DDDI_SURFACEINFO *pSurfList; /* face by face, of each the levels */
    UINT SurfCount;
    UINT MipLevels;
    UINT Fvf;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID VidPnSourceId;
    D3DDDI_RATIONAL RefreshRate;
    HANDLE hResource; /* in: the runtime's; out: the driver's */
    D3DDDI_RESOURCEFLAGS Flags;
    D3DDDI_ROTATION Rotation;
} D3DDDIARG_CREATERESOURCE;

typedef struct _D3DDDI_OPENRESOURCEFLAGS {
    union {
        struct {
            UINT Fullscreen : 1;
            UINT AlphaOverride : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
} D3DDDI_OPENRESOURCEFLAGS;

typedef struct _D3DDDIARG_OPENRESOURCE {
    UINT NumAllocations;
    union {
        D3DDDI_OPENALLOCATIONINFO *pOpenAllocationInfo;
        struct _D3DDDI_OPENALLOCATIONINFO2 *pOpenAllocationInfo2;
    };
    D3DKMT_HANDLE hKMResource;
    VOID *pPrivateDriverData;
    UINT PrivateDriverDataSize;
    HANDLE hResource; /* in: the runtime's; out: the driver's */
    D3DDDI_ROTATION Rotation;
    D3DDDI_OPENRESOURCEFLAGS Flags;
} D3DDDIARG_OPENRESOURCE;

typedef struct _D3DDDI_LOCKFLAGS {
    union {
        struct {
            UINT ReadOnly : 1;
            UINT WriteOnly : 1;
            UINT NoOverwrite : 1;
            UINT Discard : 1;
            UINT RangeValid : 1;
            UINT AreaValid : 1;
            UINT BoxValid : 1;
            UINT NotifyOnly : 1;
            UINT MightDrawFromLocked : 1;
            UINT DoNotWait : 1;
            UINT Reserved : 22;
        };
        UINT Value;
    };
} D3DDDI_LOCKFLAGS;

typedef struct _D3DDDIARG_LOCK {
    HANDLE hResource;
    UINT SubResourceIndex;
    union {
        D3DDDIRANGE Range;
        RECT Area;
        D3DDDIBOX Box;
    };
    VOID *pSurfData; /* out: where the range, area or box begins */
    UINT Pitch;
    UINT SlicePitch;
    D3DDDI_LOCKFLAGS Flags;
} D3DDDIARG_LOCK;

typedef struct _D3DDDI_UNLOCKFLAGS {
    union {
        struct {
            UINT NotifyOnly : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} D3DDDI_UNLOCKFLAGS;

typedef struct _D3DDDIARG_UNLOCK {
    HANDLE hResource;
    UINT SubResourceIndex;
    D3DDDI_UNLOCKFLAGS Flags;
} D3DDDIARG_UNLOCK;

typedef struct _D3DDDIARG_SETPRIORITY {
    HANDLE hResource;
    UINT Priority;
} D3DDDIARG_SETPRIORITY;

typedef struct _D3DDDIARG_QUERYRESOURCERESIDENCY {
    CONST HANDLE *pHandleList;
    UINT NumResources;
} D3DDDIARG_QUERYRESOURCERESIDENCY;

/* ---- copies --------------------------------------------------------------- */

typedef struct _D3DDDI_BLTFLAGS {
    union {
        struct {
            UINT Point : 1;
            UINT Linear : 1;
            UINT SrcColorKey : 1;
            UINT DstColorKey : 1;
            UINT MirrorLeftRight : 1;
            UINT MirrorUpDown : 1;
            UINT LinearToSrgb : 1;
            UINT Rotate : 1;
            UINT BeginPresentToDwm : 1;
            UINT ContinuePresentToDwm : 1;
            UINT EndPresentToDwm : 1;
            UINT Reserved : 21;
        };
        UINT Value;
    };
} D3DDDI_BLTFLAGS;

typedef struct _D3DDDIARG_BLT {
    HANDLE hSrcResource;
    UINT SrcSubResourceIndex;
    RECT SrcRect;
    HANDLE hDstResource;
    UINT DstSubResourceIndex;
    RECT DstRect;
    UINT ColorKey;
    D3DDDI_BLTFLAGS Flags;
} D3DDDIARG_BLT;

typedef struct _D3DDDIARG_BUFFERBLT {
    HANDLE hDstResource;
    HANDLE hSrcResource;
    UINT Offset; /* in the destination */
    D3DDDIRANGE SrcRange;
} D3DDDIARG_BUFFERBLT;

typedef struct _D3DDDIARG_TEXBLT {
    HANDLE hDstResource;
    HANDLE hSrcResource;
    UINT CubeMapFace;
    POINT DstPoint; /* at level 0 */
    RECT SrcRect;
} D3DDDIARG_TEXBLT;

typedef struct _D3DDDIARG_VOLUMEBLT {
    HANDLE hDstResource;
    HANDLE hSrcResource;
    UINT DstX;
    UINT DstY;
    UINT DstZ;
    D3DDDIBOX SrcBox;
} D3DDDIARG_VOLUMEBLT;

typedef struct _D3DDDI_COLORFILLFLAGS {
    union {
        struct {
            UINT PresentToDwm : 1;
            UINT Reserved : 31;
        };
        UINT Value;
    };
} D3DDDI_COLORFILLFLAGS;

typedef struct _D3DDDIARG_COLORFILL {
    HANDLE hResource;
    UINT SubResourceIndex;
    RECT DstRect;
    UINT Color; /* A8R8G8B8 */
    D3DDDI_COLORFILLFLAGS Flags;
} D3DDDIARG_COLORFILL;

typedef struct _D3DDDIARG_DEPTHFILL {
    HANDLE hResource;
    UINT SubResourceIndex;
    RECT DstRect;
    UINT Depth;
} D3DDDIARG_DEPTHFILL;

typedef struct _D3DDDIARG_GENERATEMIPSUBLEVELS {
    HANDLE hResource;
    UINT Filter; /* D3DTEXTUREFILTERTYPE */
} D3DDDIARG_GENERATEMIPSUBLEVELS;

/* ---- states --------------------------------------------------------------- */

typedef struct _D3DDDIARG_RENDERSTATE {
    UINT State; /* D3DRENDERSTATETYPE */
    UINT Value;
} D3DDDIARG_RENDERSTATE;

/* Sampler states travel as the texture stage states of old. */
typedef enum _D3DDDITEXTURESTAGESTATETYPE {
    D3DDDITSS_TEXTUREMAP = 0,
    D3DDDITSS_COLOROP = 1,
    D3DDDITSS_COLORARG1 = 2,
    D3DDDITSS_COLORARG2 = 3,
    D3DDDITSS_ALPHAOP = 4,
    D3DDDITSS_ALPHAARG1 = 5,
    D3DDDITSS_ALPHAARG2 = 6,
    D3DDDITSS_BUMPENVMAT00 = 7,
    D3DDDITSS_BUMPENVMAT01 = 8,
    D3DDDITSS_BUMPENVMAT10 = 9,
    D3DDDITSS_BUMPENVMAT11 = 10,
    D3DDDITSS_TEXCOORDINDEX = 11,
    D3DDDITSS_ADDRESSU = 13,
    D3DDDITSS_ADDRESSV = 14,
    D3DDDITSS_BORDERCOLOR = 15,
    D3DDDITSS_MAGFILTER = 16,
    D3DDDITSS_MINFILTER = 17,
    D3DDDITSS_MIPFILTER = 18,
    D3DDDITSS_MIPMAPLODBIAS = 19,
    D3DDDITSS_MAXMIPLEVEL = 20,
    D3DDDITSS_MAXANISOTROPY = 21,
    D3DDDITSS_BUMPENVLSCALE = 22,
    D3DDDITSS_BUMPENVLOFFSET = 23,
    D3DDDITSS_TEXTURETRANSFORMFLAGS = 24,
    D3DDDITSS_ADDRESSW = 25,
    D3DDDITSS_COLORARG0 = 26,
    D3DDDITSS_ALPHAARG0 = 27,
    D3DDDITSS_RESULTARG = 28,
    D3DDDITSS_SRGBTEXTURE = 29,
    D3DDDITSS_ELEMENTINDEX = 30,
    D3DDDITSS_DMAPOFFSET = 31,
    D3DDDITSS_CONSTANT = 32,
    D3DDDITSS_DISABLETEXTURECOLORKEY = 33,
    D3DDDITSS_TEXTURECOLORKEYVAL = 34
} D3DDDITEXTURESTAGESTATETYPE;

typedef struct _D3DDDIARG_TEXTURESTAGESTATE {
    UINT Stage;
    UINT State; /* D3DDDITEXTURESTAGESTATETYPE */
    UINT Value;
} D3DDDIARG_TEXTURESTAGESTATE;

typedef struct _D3DDDIARG_VALIDATETEXTURESTAGESTATE {
    UINT NumPasses;
} D3DDDIARG_VALIDATETEXTURESTAGESTATE;

typedef struct _D3DDDIARG_WINFO {
    FLOAT WNear;
    FLOAT WFar;
} D3DDDIARG_WINFO;

typedef struct _D3DDDIARG_VIEWPORTINFO {
    UINT X;
    UINT Y;
    UINT Width;
    UINT Height;
} D3DDDIARG_VIEWPORTINFO;

typedef struct _D3DDDIARG_ZRANGE {
    FLOAT MinZ;
    FLOAT MaxZ;
} D3DDDIARG_ZRANGE;

typedef struct _D3DDDIARG_SETTRANSFORM {
    UINT TransformType; /* D3DTRANSFORMSTATETYPE */
    FLOAT Matrix[4][4]; /* row by row */
} D3DDDIARG_SETTRANSFORM;
typedef D3DDDIARG_SETTRANSFORM D3DDDIARG_MULTIPLYTRANSFORM;

typedef struct _D3DDDIARG_SETMATERIAL {
    FLOAT Diffuse[4];
    FLOAT Ambient[4];
    FLOAT Specular[4];
    FLOAT Emissive[4];
    FLOAT Power;
} D3DDDIARG_SETMATERIAL;

typedef enum _D3DDDI_SETLIGHT_DATATYPE {
    D3DDDI_SETLIGHT_ENABLE = 0,
    D3DDDI_SETLIGHT_DISABLE = 1,
    D3DDDI_SETLIGHT_DATA = 2
} D3DDDI_SETLIGHT_DATATYPE;

typedef struct _D3DDDIARG_SETLIGHT {
    UINT Index;
    D3DDDI_SETLIGHT_DATATYPE DataType;
} D3DDDIARG_SETLIGHT;

typedef struct _D3DDDIARG_CREATELIGHT {
    UINT Index;
} D3DDDIARG_CREATELIGHT;

typedef struct _D3DDDIARG_DESTROYLIGHT {
    UINT Index;
} D3DDDIARG_DESTROYLIGHT;

typedef struct _D3DDDI_LIGHT {
    UINT Type; /* D3DLIGHTTYPE */
    FLOAT Diffuse[4];
    FLOAT Specular[4];
    FLOAT Ambient[4];
    FLOAT Position[3];
    FLOAT Direction[3];
    FLOAT Range;
    FLOAT Falloff;
    FLOAT Attenuation0;
    FLOAT Attenuation1;
    FLOAT Attenuation2;
    FLOAT Theta;
    FLOAT Phi;
} D3DDDI_LIGHT;

typedef struct _D3DDDIARG_SETCLIPPLANE {
    UINT Index;
    FLOAT Plane[4];
} D3DDDIARG_SETCLIPPLANE;

typedef struct _D3DDDIARG_UPDATEPALETTE {
    UINT PaletteHandle;
    UINT StartIndex;
    UINT NumEntries;
} D3DDDIARG_UPDATEPALETTE;

typedef struct _D3DDDIARG_SETRENDERTARGET {
    UINT RenderTargetIndex;
    HANDLE hRenderTarget;
    UINT SubResourceIndex;
} D3DDDIARG_SETRENDERTARGET;

typedef struct _D3DDDIARG_SETDEPTHSTENCIL {
    HANDLE hZBuffer;
} D3DDDIARG_SETDEPTHSTENCIL;

/* ---- shaders, vertices, draws --------------------------------------------- */

typedef struct _D3DDDIARG_CREATEPIXELSHADER {
    UINT CodeSize; /* bytes, the end token included */
    HANDLE ShaderHandle;
} D3DDDIARG_CREATEPIXELSHADER;

typedef struct _D3DDDIARG_CREATEVERTEXSHADERFUNC {
    UINT Size; /* bytes, the end token included */
    HANDLE ShaderHandle;
} D3DDDIARG_CREATEVERTEXSHADERFUNC;

typedef struct _D3DDDIVERTEXELEMENT {
    USHORT Stream;
    USHORT Offset;
    UCHAR Type;
    UCHAR Method;
    UCHAR Usage;
    UCHAR UsageIndex;
} D3DDDIVERTEXELEMENT;

typedef struct _D3DDDIARG_CREATEVERTEXSHADERDECL {
    UINT NumVertexElements; /* the end element is not one of them */
    HANDLE ShaderHandle;
} D3DDDIARG_CREATEVERTEXSHADERDECL;

typedef struct _D3DDDIARG_SETVERTEXSHADERCONST {
    UINT Register;
    UINT Count;
} D3DDDIARG_SETVERTEXSHADERCONST;
typedef D3DDDIARG_SETVERTEXSHADERCONST D3DDDIARG_SETVERTEXSHADERCONSTI;
typedef D3DDDIARG_SETVERTEXSHADERCONST D3DDDIARG_SETVERTEXSHADERCONSTB;
typedef D3DDDIARG_SETVERTEXSHADERCONST D3DDDIARG_SETPIXELSHADERCONST;
typedef D3DDDIARG_SETVERTEXSHADERCONST D3DDDIARG_SETPIXELSHADERCONSTI;
typedef D3DDDIARG_SETVERTEXSHADERCONST D3DDDIARG_SETPIXELSHADERCONSTB;

typedef struct _D3DDDIARG_SETSTREAMSOURCE {
    UINT Stream;
    HANDLE hVertexBuffer;
    UINT Offset;
    UINT Stride;
} D3DDDIARG_SETSTREAMSOURCE;

typedef struct _D3DDDIARG_SETSTREAMSOURCEUM {
    UINT Stream;
    UINT Stride;
} D3DDDIARG_SETSTREAMSOURCEUM;

typedef struct _D3DDDIARG_SETSTREAMSOURCEFREQ {
    UINT Stream;
    UINT Divider;
} D3DDDIARG_SETSTREAMSOURCEFREQ;

typedef struct _D3DDDIARG_SETINDICES {
    HANDLE hIndexBuffer;
    UINT Stride; /* bytes of an index */
} D3DDDIARG_SETINDICES;

typedef struct _D3DDDIARG_DRAWPRIMITIVE {
    UINT PrimitiveType; /* D3DPRIMITIVETYPE */
    UINT VStart;
    UINT PrimitiveCount;
} D3DDDIARG_DRAWPRIMITIVE;

typedef struct _D3DDDIARG_DRAWPRIMITIVE2 {
    UINT PrimitiveType;
    UINT FirstVertexOffset; /* bytes */
    UINT PrimitiveCount;
} D3DDDIARG_DRAWPRIMITIVE2;

typedef struct _D3DDDIARG_DRAWINDEXEDPRIMITIVE {
    UINT PrimitiveType;
    INT BaseVertexIndex;
    UINT MinIndex;
    UINT NumVertices;
    UINT StartIndex;
    UINT PrimitiveCount;
} D3DDDIARG_DRAWINDEXEDPRIMITIVE;

typedef struct _D3DDDIARG_DRAWINDEXEDPRIMITIVE2 {
    UINT PrimitiveType;
    INT BaseVertexOffset; /* bytes */
    UINT MinIndex;
    UINT NumVertices;
    UINT StartIndexOffset; /* bytes */
    UINT PrimitiveCount;
} D3DDDIARG_DRAWINDEXEDPRIMITIVE2;

typedef struct _D3DDDIARG_DRAWRECTPATCH {
    UINT Handle;
} D3DDDIARG_DRAWRECTPATCH;

typedef struct _D3DDDIARG_DRAWTRIPATCH {
    UINT Handle;
} D3DDDIARG_DRAWTRIPATCH;

struct _D3DDDIRECTPATCH_INFO;
struct _D3DDDITRIPATCH_INFO;

typedef struct _D3DDDIARG_CLEAR {
    UINT Flags; /* D3DCLEAR_* */
    UINT FillColor;
    FLOAT FillDepth;
    UINT FillStencil;
} D3DDDIARG_CLEAR;

/* ---- queries and presenting ----------------------------------------------- */

typedef enum _D3DDDIQUERYTYPE {
    D3DDDIQUERYTYPE_EVENT = 8,
    D3DDDIQUERYTYPE_OCCLUSION = 9,
    D3DDDIQUERYTYPE_TIMESTAMP = 10,
    D3DDDIQUERYTYPE_TIMESTAMPDISJOINT = 11,
    D3DDDIQUERYTYPE_TIMESTAMPFREQ = 12
} D3DDDIQUERYTYPE;

typedef struct _D3DDDIARG_CREATEQUERY {
    D3DDDIQUERYTYPE QueryType;
    HANDLE hQuery; /* out */
} D3DDDIARG_CREATEQUERY;

typedef struct _D3DDDI_ISSUEQUERYFLAGS {
    union {
        struct {
            UINT Begin : 1;
            UINT End : 1;
            UINT Reserved : 30;
        };
        UINT Value;
    };
} D3DDDI_ISSUEQUERYFLAGS;

typedef struct _D3DDDIARG_ISSUEQUERY {
    HANDLE hQuery;
    D3DDDI_ISSUEQUERYFLAGS Flags;
} D3DDDIARG_ISSUEQUERY;

typedef struct _D3DDDIARG_GETQUERYDATA {
    HANDLE hQuery;
    VOID *pData;
} D3DDDIARG_GETQUERYDATA;

typedef struct _D3DDDIARG_SETDISPLAYMODE {
    HANDLE hResource;
    UINT SubResourceIndex;
} D3DDDIARG_SETDISPLAYMODE;

typedef struct _D3DDDI_PRESENTFLAGS {
    union {
        struct {
            UINT Blt : 1;
            UINT ColorFill : 1;
            UINT Flip : 1;
            UINT Reserved : 29;
        };
        UINT Value;
    };
} D3DDDI_PRESENTFLAGS;

typedef struct _D3DDDIARG_PRESENT {
    HANDLE hSrcResource;
    UINT SrcSubResourceIndex;
    HANDLE hDstResource;
    UINT DstSubResourceIndex;
    D3DDDI_PRESENTFLAGS Flags;
    D3DDDI_FLIPINTERVAL_TYPE FlipInterval;
} D3DDDIARG_PRESENT;

/* What a call answers beside the codes that all share. */
#define D3DDDIERR_NOTAVAILABLE ((HRESULT)0x8876086A)
