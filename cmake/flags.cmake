# SPDX-License-Identifier: MIT
#
# sley_flags - how our own code is compiled.  Linked privately, never exported.

add_library(sley_flags INTERFACE)

target_compile_options(sley_flags INTERFACE
	-Wall -Wextra -Wshadow -Wvla
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
	$<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
	$<$<BOOL:${SLEY_WERROR}>:-Werror>)

# A frame pointer costs a register on every path; only builds that are there
# to find bugs pay for it.
if(SLEY_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
	target_compile_options(sley_flags INTERFACE -fno-omit-frame-pointer)
endif()

if(SLEY_SANITIZE)
	target_compile_options(sley_flags INTERFACE
		-fsanitize=${SLEY_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(sley_flags INTERFACE -fsanitize=${SLEY_SANITIZE})
	if(SLEY_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID MATCHES Clang)
		target_compile_options(sley_flags INTERFACE
			-fsanitize-address-use-after-return=always)
	endif()
endif()
