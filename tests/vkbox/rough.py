# SPDX-License-Identifier: MIT
"""rough.py WHAT [ARGUMENT...]: a program that uses Vulkan as few do."""
import ctypes, os, sys, threading
from ctypes import POINTER, Structure, byref, c_float, c_uint32, c_void_p, cast, pointer


class InstanceInfo(Structure):
    _fields_ = [('type', c_uint32), ('next', c_void_p), ('flags', c_uint32), ('app', c_void_p), ('layers', c_uint32), ('layer', c_void_p),
                ('extensions', c_uint32), ('extension', c_void_p)]


class QueueInfo(Structure):
    _fields_ = [('type', c_uint32), ('next', c_void_p), ('flags', c_uint32), ('family', c_uint32), ('queues', c_uint32), ('priority', POINTER(c_float))]


class DeviceInfo(Structure):
    _fields_ = [('type', c_uint32), ('next', c_void_p), ('flags', c_uint32), ('queues', c_uint32), ('queue', POINTER(QueueInfo)), ('layers', c_uint32),
                ('layer', c_void_p), ('extensions', c_uint32), ('extension', c_void_p), ('features', c_void_p)]


vk = ctypes.CDLL('libvulkan.so.1')


def check(result):
    assert result == 0, result


def make_instance():
    """(the instance, its first physical device)"""
    instance, physical, n = c_void_p(), c_void_p(), c_uint32(1)
    check(vk.vkCreateInstance(byref(InstanceInfo(type=1)), None, byref(instance)))
    assert vk.vkEnumeratePhysicalDevices(instance, byref(n), byref(physical)) >= 0
    return instance, physical


def make_device(physical):
    queue, device = QueueInfo(type=2, queues=1, priority=pointer(c_float(1))), c_void_p()
    check(vk.vkCreateDevice(physical, byref(DeviceInfo(type=3, queues=1, queue=pointer(queue))), None, byref(device)))
    return device


def one_after_the_other(n):
    _, physical = make_instance()
    for _ in range(int(n)):
        vk.vkDestroyDevice(make_device(physical), None)


def resident():
    """KiB"""
    return next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmRSS'))


def grows(n):
    """By so many KiB in n devices, when everything was there once."""
    one_after_the_other(64)
    before = resident()
    one_after_the_other(n)
    print(resident() - before)


def at_once(n):
    _, physical = make_instance()
    for d in [make_device(physical) for _ in range(int(n))]:
        vk.vkDestroyDevice(d, None)


def instances(n):
    made = [make_instance() for _ in range(int(n))]
    for instance, physical in made:
        vk.vkDestroyDevice(make_device(physical), None)
    for instance, _ in made:
        vk.vkDestroyInstance(instance, None)


def unloaded():
    global vk
    for _ in range(3):
        instance, physical = make_instance()
        vk.vkDestroyDevice(make_device(physical), None)
        vk.vkDestroyInstance(instance, None)
        ctypes.CDLL(None).dlclose(c_void_p(vk._handle))
        vk = ctypes.CDLL('libvulkan.so.1')


def threads(n):
    all_ = [threading.Thread(target=one_after_the_other, args=(3,)) for _ in range(int(n))]
    for t in all_:
        t.start()
    for t in all_:
        t.join()


def another(*argv):
    """Becomes another program."""
    make_device(make_instance()[1])
    sys.stdout.flush()
    os.execv(argv[0], argv)



def both(*argv):
    """Starts another program, and goes on."""
    _, physical = make_instance()
    if not os.fork():
        os.execv(argv[0], argv)
    os.wait()
    make_device(physical)


def in_child(uses_it_before):
    """Only the child uses Vulkan; or its parent has done so before."""
    if int(uses_it_before):
        one_after_the_other(1)
    if not os.fork():
        make_device(make_instance()[1])
        ctypes.string_at(16)
    print('ended by', os.wait()[1] & 127)


def without_descriptors():
    make_device(make_instance()[1])
    os.closerange(3, 65536)
    ctypes.string_at(16)


def hidden():
    """From whoever has not all rights."""
    make_device(make_instance()[1])
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    ctypes.string_at(16)


def as_nobody(when):
    if when == 'before':
        os.setuid(65534)
    make_device(make_instance()[1])
    if when == 'after':
        os.setuid(65534)
    ctypes.string_at(16)


globals()[sys.argv[1]](*sys.argv[2:])
print('done', flush=True)
