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

static const char *made_of = "PhysicalStorageBuffer", *length = "%n = OpConstant %uint 1024\n";
static const char *types = "", *variables = "", *functions = "";

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
        "%%v4 = OpTypeVector %%float 4\n%%mat = OpTypeMatrix %%v4 4\n%s%%list = OpTypeArray %%uint %%n\n"
        "%%far = OpTypeStruct %%uint %s\n%%to = OpTypePointer %s %%far\n%%params = OpTypeStruct %%v2\n"
        "%%pp = OpTypePointer Uniform %%params\n%%pv = OpTypePointer Uniform %%v2\n%%p = OpVariable %%pp Uniform\n"
        "%%zero = OpConstant %%uint 0\n%%value = OpConstantNull %%far\n%s"
        "%%main = OpFunction %%void None %%f\n%%l = OpLabel\n%s%%a = OpAccessChain %%pv %%p %%zero\n%%b = OpLoad %%v2 %%a\n"
        "%%c = OpBitcast %%to %%b\nOpStore %%c %%value Aligned 16\nOpReturn\nOpFunctionEnd\n%s",
        more, offset, decorations, length, member, made_of, types, variables, functions);
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

/* What cannot be said before the driver has computed it. */
TEST(lengths_are_constants)
{
    struct error e;

    length = "%k = OpConstant %uint 64\n%n = OpSpecConstantOp %uint IMul %k %k\n";
    assert_int_equal(create(&e, "", "OpDecorate %list ArrayStride 1048576\n", "%list", 16), -ENOTSUP);
    assert_non_null(strstr(e.text, "an array whose length is no constant of 32 bits"));
    length = "%long = OpTypeInt 64 0\n%n = OpConstant %long 4294967297\n";
    assert_int_equal(create(&e, "OpCapability Int64\n", "OpDecorate %list ArrayStride 4\n", "%list", 16),
                     -ENOTSUP);
    assert_non_null(strstr(e.text, "an array whose length is no constant of 32 bits"));
    length = "%n = OpConstant %uint 1024\n";
}

/* What a shader has of its own lies on a thread's stack, once for each call that is made a part of its caller. */
TEST(own_memory_is_bounded)
{
    static const char *too_much =
        "SPIR-V with variables of more components than 16384 cannot be kept to its own memory";
    struct error e;

    types = "%m = OpConstant %uint 16384\n%own = OpTypeArray %uint %m\n%po = OpTypePointer Function %own\n";
    variables = "%v = OpVariable %po Function\n";
    assert_int_equal(create(&e, "", "", "%uint", 4), 0);
    variables = "%v = OpVariable %po Function\n%w = OpVariable %po Function\n";
    assert_int_equal(create(&e, "", "", "%uint", 4), -ENOTSUP);
    assert_string_equal(e.text, too_much);
    types = "%m = OpConstant %uint 4097\n%own = OpTypeArray %v4 %m\n%po = OpTypePointer Private %own\n"
            "%v = OpVariable %po Private\n";
    variables = "";
    assert_int_equal(create(&e, "", "", "%uint", 4), -ENOTSUP);
    assert_string_equal(e.text, too_much);
    types = "%m = OpConstant %uint 4096\n%own = OpTypeArray %uint %m\n%po = OpTypePointer Function %own\n";
    functions =
        "%g = OpFunction %void None %f\n%gl = OpLabel\n%x = OpFunctionCall %void %h\n%y = OpFunctionCall %void %h\n"
        "OpReturn\nOpFunctionEnd\n%h = OpFunction %void None %f\n%hl = OpLabel\n%v = OpVariable %po Function\n"
        "OpReturn\nOpFunctionEnd\n";
    variables = "%i = OpFunctionCall %void %g\n%j = OpFunctionCall %void %g\n";
    assert_int_equal(create(&e, "", "", "%uint", 4), 0);
    variables = "%i = OpFunctionCall %void %g\n%j = OpFunctionCall %void %g\n%k = OpFunctionCall %void %h\n";
    assert_int_equal(create(&e, "", "", "%uint", 4), -ENOTSUP);
    assert_string_equal(e.text, too_much);
    types = variables = functions = "";
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
    types = "%pf = OpTypePointer Function %uint\n";
    variables = "%u = OpUndef %pf\nOpStore %u %zero\n";
    assert_int_equal(create(&e, "", "", "%uint", 4), -ENOTSUP);
    assert_string_equal(
        e.text,
        "SPIR-V with a pointer that is no variable's, by instruction 1 cannot be kept to its own memory");
    types = variables = "";
}

/* Other ways to memory than those that are checked are not opened. */
TEST(capabilities_are_listed)
{
    struct error e;

    assert_int_equal(create(&e, "OpCapability Int64\nOpCapability Int16\n", "", "%uint", 4), 0);
    assert_int_equal(create(&e, "OpCapability VariablePointers\n", "", "%uint", 4), -ENOTSUP);
    assert_string_equal(e.text, "SPIR-V with capability 4442 cannot be kept to its own memory");
}
