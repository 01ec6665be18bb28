/* SPDX-License-Identifier: MIT */
/* confine_test.c: what SPIR-V may say that is to be kept to the GPU's memory; that it is kept there is tested where it runs
 * (tests/watch/evidence_test.c). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define kDefaultMaxIdBound another_of_a_headers_own /* it defines one wherever it is included */
#include <spirv-tools/libspirv.h>

#include "executor/shader/shader.h"
#include "test.h"

static const struct shader_addresses gpu = {.base = 0x7f0000000000, .size = 1 << 30};

static const char *made_of = "PhysicalStorageBuffer";

/* A structure is stored whole at an address: a word, and `member` at `offset`. */
static int create(struct error *e, const char *more, const char *decorations, const char *member,
                  uint32_t offset)
{
    struct shader *s = NULL;
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_diagnostic diagnostic = NULL;
    spv_binary binary = NULL;
    char text[4096];
    int r;

    snprintf(
        text, sizeof(text),
        "OpCapability Shader\nOpCapability PhysicalStorageBufferAddresses\n%s"
        "OpExtension \"SPV_KHR_physical_storage_buffer\"\nOpMemoryModel PhysicalStorageBuffer64 GLSL450\n"
        "OpEntryPoint GLCompute %%main \"main\"\nOpExecutionMode %%main LocalSize 1 1 1\n"
        "OpDecorate %%far Block\nOpMemberDecorate %%far 0 Offset 0\nOpMemberDecorate %%far 1 Offset %u\n%s"
        "OpDecorate %%params Block\nOpMemberDecorate %%params 0 Offset 0\nOpDecorate %%p DescriptorSet 0\nOpDecorate %%p Binding 0\n"
        "%%void = OpTypeVoid\n%%f = OpTypeFunction %%void\n%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n%%v2 = OpTypeVector %%uint 2\n"
        "%%v4 = OpTypeVector %%float 4\n%%mat = OpTypeMatrix %%v4 4\n%%n = OpConstant %%uint 1024\n%%list = OpTypeArray %%uint %%n\n"
        "%%far = OpTypeStruct %%uint %s\n%%to = OpTypePointer %s %%far\n%%params = OpTypeStruct %%v2\n"
        "%%pp = OpTypePointer Uniform %%params\n%%pv = OpTypePointer Uniform %%v2\n%%p = OpVariable %%pp Uniform\n"
        "%%zero = OpConstant %%uint 0\n%%value = OpConstantNull %%far\n"
        "%%main = OpFunction %%void None %%f\n%%l = OpLabel\n%%a = OpAccessChain %%pv %%p %%zero\n%%b = OpLoad %%v2 %%a\n"
        "%%c = OpBitcast %%to %%b\nOpStore %%c %%value Aligned 16\nOpReturn\nOpFunctionEnd\n",
        more, offset, decorations, member, made_of);
    if (spvTextToBinary(context, text, strlen(text), &binary, &diagnostic))
        fail_msg("%s", diagnostic->error);
    *e = (struct error){0};
    r = shader_create(&s, EXEC_CS, binary->code, binary->wordCount * 4, &gpu, e);
    assert_int_equal(!r, !!s);
    shader_unref(s);
    spvBinaryDestroy(binary);
    spvContextDestroy(context);
    return r;
}

/* What is checked is where an access begins: it may cover no more than is reserved behind the GPU's addresses. */
TEST(accesses_are_not_endless)
{
    struct error e;

    assert_int_equal(create(&e, "", "", "%uint", 4), 0);
    assert_int_equal(create(&e, "", "", "%uint", 1 << 20), 0);
    assert_int_equal(create(&e, "", "", "%uint", 1 << 28), -ENOTSUP);
    assert_string_equal(
        e.text, "SPIR-V with an access of more bytes than 268435456 cannot be kept to its own memory");
    assert_int_equal(create(&e, "", "", "%uint", 0xfffffffc), -ENOTSUP);
    assert_int_equal(create(&e, "", "OpDecorate %list ArrayStride 4\n", "%list", 16), 0);
    assert_int_equal(create(&e, "", "OpDecorate %list ArrayStride 1048576\n", "%list", 16), -ENOTSUP);
    assert_int_equal(create(&e, "",
                            "OpMemberDecorate %far 1 ColMajor\nOpMemberDecorate %far 1 MatrixStride 16\n",
                            "%mat", 16),
                     0);
    assert_int_equal(
        create(&e, "", "OpMemberDecorate %far 1 ColMajor\nOpMemberDecorate %far 1 MatrixStride 16777216\n",
               "%mat", 16),
        -ENOTSUP);
    assert_string_equal(e.text, "SPIR-V with a matrix stride of 16777216 cannot be kept to its own memory");
}

/* Nor are pointers to other memory made of numbers. */
TEST(only_addresses_are_made)
{
    struct error e;

    made_of = "StorageBuffer";
    assert_int_equal(create(&e, "", "", "%uint", 4), -ENOTSUP);
    assert_string_equal(
        e.text,
        "SPIR-V with a pointer that is no variable's, by instruction 124 cannot be kept to its own memory");
    made_of = "PhysicalStorageBuffer";
}

/* Other ways to memory than those that are checked are not opened. */
TEST(capabilities_are_listed)
{
    struct error e;

    assert_int_equal(create(&e, "OpCapability Int64\nOpCapability Int16\n", "", "%uint", 4), 0);
    assert_int_equal(create(&e, "OpCapability VariablePointers\n", "", "%uint", 4), -ENOTSUP);
    assert_string_equal(e.text, "SPIR-V with capability 4442 cannot be kept to its own memory");
}
