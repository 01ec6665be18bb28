/* SPDX-License-Identifier: MIT */
/* root_signature_test.c: what somebody else's serializer wrote is read back, and damage is one error. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define COBJMACROS
#include <vkd3d.h>

#include "d3d12/view/root_signature.h"

static const D3D12_DESCRIPTOR_RANGE views[] = {
    {D3D12_DESCRIPTOR_RANGE_TYPE_SRV, 3, 2, 1, D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND},
    {D3D12_DESCRIPTOR_RANGE_TYPE_UAV, 1, 0, 0, 7},
    {D3D12_DESCRIPTOR_RANGE_TYPE_CBV, 2, 4, 0, D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND}};
static const D3D12_DESCRIPTOR_RANGE endless = {D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER, UINT32_MAX, 0, 5, 0};
static const D3D12_STATIC_SAMPLER_DESC sampler = {.Filter = D3D12_FILTER_COMPARISON_MIN_MAG_LINEAR_MIP_POINT,
                                                  .AddressU = D3D12_TEXTURE_ADDRESS_MODE_WRAP,
                                                  .AddressV = D3D12_TEXTURE_ADDRESS_MODE_BORDER,
                                                  .AddressW = D3D12_TEXTURE_ADDRESS_MODE_CLAMP,
                                                  .MipLODBias = -.25f,
                                                  .MaxAnisotropy = 4,
                                                  .ComparisonFunc = D3D12_COMPARISON_FUNC_LESS,
                                                  .BorderColor = D3D12_STATIC_BORDER_COLOR_OPAQUE_WHITE,
                                                  .MinLOD = 1.5f,
                                                  .MaxLOD = 8,

                                                  .ShaderRegister = 6,
                                                  .RegisterSpace = 2,
                                                  .ShaderVisibility = D3D12_SHADER_VISIBILITY_PIXEL};
static const char text[] =
    "        parameter 0, for vertex: constants b3, space 2, 4 values\n"
    "        parameter 1, for all: table of [0] 3 SRV from t2, space 1; [7] 1 UAV from u0, space 0; [8] 2 CBV from b4, space 0\n"
    "        parameter 2, for pixel: SRV t9, space 0\n"
    "        parameter 3, for pixel: table of [0] any number of sampler from s0, space 5\n"
    "        static sampler, for pixel: s6, space 2: COMPARISON_MIN_LINEAR_MAG_LINEAR_MIP_POINT, WRAP BORDER CLAMP, "
    "border OPAQUE_WHITE, lod 1.5 to 8, bias -0.25, passes LESS\n";

/* The same in both versions, by libvkd3d. */
static ID3DBlob *serialized(D3D_ROOT_SIGNATURE_VERSION version)
{
    D3D12_DESCRIPTOR_RANGE1 views1[3] = {0},
                            endless1 = {
                                endless.RangeType, UINT32_MAX, 0, 5, D3D12_DESCRIPTOR_RANGE_FLAG_NONE, 0};
    D3D12_ROOT_PARAMETER1 p1[4] = {0};
    D3D12_ROOT_PARAMETER p[4] = {
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS,
         .Constants = {3, 2, 4},
         .ShaderVisibility = D3D12_SHADER_VISIBILITY_VERTEX},
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE, .DescriptorTable = {3, views}},
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_SRV,
         .Descriptor = {9, 0},
         .ShaderVisibility = D3D12_SHADER_VISIBILITY_PIXEL},
        {.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE,
         .DescriptorTable = {1, &endless},
         .ShaderVisibility = D3D12_SHADER_VISIBILITY_PIXEL}};
    D3D12_VERSIONED_ROOT_SIGNATURE_DESC d = {.Version = version};
    ID3DBlob *blob = NULL;

    for (int i = 0; i < 3; i++)
        views1[i] = (D3D12_DESCRIPTOR_RANGE1){views[i].RangeType,
                                              views[i].NumDescriptors,
                                              views[i].BaseShaderRegister,
                                              views[i].RegisterSpace,
                                              D3D12_DESCRIPTOR_RANGE_FLAG_NONE,
                                              views[i].OffsetInDescriptorsFromTableStart};
    for (int i = 0; i < 4; i++) {
        p1[i].ParameterType = p[i].ParameterType;
        p1[i].ShaderVisibility = p[i].ShaderVisibility;
    }
    p1[0].Constants = p[0].Constants;
    p1[1].DescriptorTable = (D3D12_ROOT_DESCRIPTOR_TABLE1){3, views1};
    p1[2].Descriptor = (D3D12_ROOT_DESCRIPTOR1){9, 0, D3D12_ROOT_DESCRIPTOR_FLAG_NONE};
    p1[3].DescriptorTable = (D3D12_ROOT_DESCRIPTOR_TABLE1){1, &endless1};
    if (version == D3D_ROOT_SIGNATURE_VERSION_1_1)
        d.Desc_1_1 = (D3D12_ROOT_SIGNATURE_DESC1){4, p1, 1, &sampler, 0};
    else
        d.Desc_1_0 = (D3D12_ROOT_SIGNATURE_DESC){4, p, 1, &sampler, 0};
    assert_int_equal(vkd3d_serialize_versioned_root_signature(&d, &blob, NULL), 0);
    return blob;
}

/* `size` bytes in front of a page that nobody may touch. */
static uint8_t *guarded(size_t size)
{
    size_t room = (size + 4095) & ~(size_t)4095;
    uint8_t *p = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_int_equal(mprotect(p + room, 4096, PROT_NONE), 0);
    return p + room - size;
}

TEST(both_versions_are_read)
{
    for (int version = D3D_ROOT_SIGNATURE_VERSION_1_0; version <= D3D_ROOT_SIGNATURE_VERSION_1_1; version++) {
        ID3DBlob *blob = serialized((D3D_ROOT_SIGNATURE_VERSION)version);
        struct strbuf out = {0};
        struct root_signature r;
        struct error e = {0};

        assert_int_equal(
            root_signature_read(&r, ID3D10Blob_GetBufferPointer(blob), ID3D10Blob_GetBufferSize(blob), &e),
            0);
        root_signature_show(&out, SHOW_TEXT, &r);
        assert_string_equal(strbuf_str(&out), text);
        assert_int_equal(root_signature_table(&r, 0), 0);
        assert_int_equal(root_signature_table(&r, 1), 10);
        assert_int_equal(root_signature_table(&r, 3), 0);
        assert_int_equal(root_signature_table(&r, 4), 0);
        strbuf_finish(&out);
        root_signature_finish(&r);
        ID3D10Blob_Release(blob);
    }
}

TEST(as_json)
{
    ID3DBlob *blob = serialized(D3D_ROOT_SIGNATURE_VERSION_1_1);
    struct strbuf out = {0};
    struct root_signature r;

    assert_int_equal(
        root_signature_read(&r, ID3D10Blob_GetBufferPointer(blob), ID3D10Blob_GetBufferSize(blob), NULL), 0);
    root_signature_show(&out, SHOW_JSON, &r);
    assert_string_equal(
        strbuf_str(&out),
        "{\"role\":\"parameter\",\"index\":0,\"stages\":\"vertex\",\"kind\":\"constants\",\"register\":3,\"space\":2,\"values\":4}\n"
        "{\"role\":\"parameter\",\"index\":1,\"stages\":\"all\",\"kind\":\"table\",\"ranges\":["
        "{\"kind\":\"SRV\",\"register\":2,\"space\":1,\"first\":0,\"count\":3},"
        "{\"kind\":\"UAV\",\"register\":0,\"space\":0,\"first\":7,\"count\":1},"
        "{\"kind\":\"CBV\",\"register\":4,\"space\":0,\"first\":8,\"count\":2}]}\n"
        "{\"role\":\"parameter\",\"index\":2,\"stages\":\"pixel\",\"kind\":\"SRV\",\"register\":9,\"space\":0}\n"
        "{\"role\":\"parameter\",\"index\":3,\"stages\":\"pixel\",\"kind\":\"table\",\"ranges\":["
        "{\"kind\":\"sampler\",\"register\":0,\"space\":5,\"first\":0,\"count\":null}]}\n"
        "{\"role\":\"sampler\",\"stages\":\"pixel\",\"register\":6,\"space\":2,\"filter\":\"COMPARISON_MIN_LINEAR_MAG_LINEAR_MIP_POINT\",\"address\":[\"WRAP\",\"BORDER\",\"CLAMP\"],\"border\":\"OPAQUE_WHITE\",\"comparison\":\"LESS\",\"anisotropy\":4,\"lod\":[1.5,8,-0.25]}\n");
    strbuf_finish(&out);
    root_signature_finish(&r);
    ID3D10Blob_Release(blob);
}

/* Cut anywhere, it is one error; with any word changed nothing is read behind its end. */
TEST(damage_is_one_error)
{
    for (int version = D3D_ROOT_SIGNATURE_VERSION_1_0; version <= D3D_ROOT_SIGNATURE_VERSION_1_1; version++) {
        static const uint32_t words[] = {0, 1, 65, 4096, 0x7fffffff, 0xfffffff0, UINT32_MAX};
        ID3DBlob *blob = serialized((D3D_ROOT_SIGNATURE_VERSION)version);
        const uint8_t *whole = ID3D10Blob_GetBufferPointer(blob);
        size_t size = ID3D10Blob_GetBufferSize(blob);
        uint8_t *p = guarded(size);
        struct root_signature r;
        unsigned refused = 0;

        for (size_t cut = 0; cut < size; cut++) {
            struct error e = {0};

            memcpy(p + size - cut, whole, cut);
            assert_int_equal(root_signature_read(&r, p + size - cut, cut, &e), -EBADMSG);
            assert_int_equal(
                strncmp(e.text, "root signature: its ", 20) && strncmp(e.text, "root signature: it ", 19), 0);
            root_signature_finish(&r);
        }
        for (size_t at = 0; at + 4 <= size; at += 4)
            for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
                struct strbuf out = {0};
                struct error e = {0};
                int err;

                memcpy(p, whole, size);
                memcpy(p + at, &words[i], 4);
                err = root_signature_read(&r, p, size, &e);
                assert_true(!err || (err == -EBADMSG && *e.text));
                refused += !!err;
                if (!err)
                    root_signature_show(&out, SHOW_TEXT, &r);
                for (uint64_t k = 0; k <= r.num; k++)
                    (void)root_signature_table(&r, k);
                strbuf_finish(&out);
                root_signature_finish(&r);
            }
        assert_true(refused > 100);
        ID3D10Blob_Release(blob);
    }
}

TEST_GROUP(NULL, NULL);
