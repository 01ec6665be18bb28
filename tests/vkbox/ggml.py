# SPDX-License-Identifier: MIT
"""ggml.py FOLDER ROUNDS: ggml's Vulkan backend (FOLDER: with libggml-vulkan.so) adds vectors and applies gelu, and prints what came of it."""
import ctypes, hashlib, math, struct, sys
from ctypes import c_bool, c_int64, c_size_t, c_void_p

folder, rounds, count = sys.argv[1], int(sys.argv[2]), 4096


class Params(ctypes.Structure):
    _fields_ = [('size', c_size_t), ('buffer', c_void_p), ('no_alloc', c_bool)]


base = ctypes.CDLL(folder + '/libggml-base.so', ctypes.RTLD_GLOBAL)
vulkan = ctypes.CDLL(folder + '/libggml-vulkan.so')


def made(function, *args):
    function.restype = c_void_p
    p = c_void_p(function(*args))
    assert p, function
    return p


backend = made(vulkan.ggml_backend_vk_init, 0)
context = made(base.ggml_init, Params(1 << 20, None, True))
x, y = (made(base.ggml_new_tensor_1d, context, 0, c_int64(count)) for _ in range(2))
z = made(base.ggml_gelu, context, made(base.ggml_add, context, x, y))
graph = made(base.ggml_new_graph, context)
base.ggml_build_forward_expand(graph, z)
made(base.ggml_backend_alloc_ctx_tensors, context, backend)
data = struct.pack('<%df' % count, *[math.sin(i) for i in range(count)])
for t in x, y:
    base.ggml_backend_tensor_set(t, data, c_size_t(0), c_size_t(len(data)))
for _ in range(rounds):
    assert base.ggml_backend_graph_compute(backend, graph) == 0
out = ctypes.create_string_buffer(len(data))
base.ggml_backend_tensor_get(z, out, c_size_t(0), c_size_t(len(data)))
print(hashlib.md5(out.raw).hexdigest(), flush=True)
