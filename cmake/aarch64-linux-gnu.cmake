# SPDX-License-Identifier: MIT
#
# Toolchain: Debian's cross compiler for AArch64; tests run under qemu-user.
#
# The emulator tells the tests that it is one (tests/harness/test.h).  C++ is
# optional here as everywhere; the compiler of the building machine is none.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
find_program(SLEY_CROSS_CXX aarch64-linux-gnu-g++)
mark_as_advanced(SLEY_CROSS_CXX)
if(SLEY_CROSS_CXX)
	set(CMAKE_CXX_COMPILER ${SLEY_CROSS_CXX})
else()
	set(CMAKE_CXX_COMPILER "")
endif()

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR
	qemu-aarch64 -L /usr/aarch64-linux-gnu -E TEST_EMULATED=1)
