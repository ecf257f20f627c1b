/* SPDX-License-Identifier: MIT */
#include "http/message/chars.h"

#define IS_ALPHA(c) (((c) | 0x20) >= 'a' && ((c) | 0x20) <= 'z')
#define IS_DIGIT(c) ((c) >= '0' && (c) <= '9')
#define IS_HEX(c) (IS_DIGIT(c) || (((c) | 0x20) >= 'a' && ((c) | 0x20) <= 'f'))
#define IS_SPACE(c) ((c) == ' ' || (c) == '\t')
#define IS_VISIBLE(c) ((c) > ' ' && (c) < 0x7f)
#define IS_VALUE(c) (((c) >= ' ' && (c) != 0x7f) || (c) == '\t')

/* RFC 9110, section 5.6.2 */
#define IS_TOKEN(c)                                                            \
	(IS_ALPHA(c) || IS_DIGIT(c) || (c) == '!' ||                           \
	 ((c) >= '#' && (c) <= '\'') || (c) == '*' || (c) == '+' ||            \
	 (c) == '-' || (c) == '.' || ((c) >= '^' && (c) <= '`') ||             \
	 (c) == '|' || (c) == '~')

/* RFC 3986, section 3.2: a name, an address in brackets, a port, escapes */
#define IS_HOST(c)                                                             \
	(IS_ALPHA(c) || IS_DIGIT(c) || (c) == '!' ||                           \
	 ((c) >= '$' && (c) <= '.') || (c) == ':' || (c) == ';' ||             \
	 (c) == '=' || (c) == '[' || (c) == ']' || (c) == '_' || (c) == '~')

#define CLASS_1(c)                                                             \
	((IS_TOKEN(c) ? HTTP_TOKEN : 0) | (IS_VALUE(c) ? HTTP_VALUE : 0) |     \
	 (IS_VISIBLE(c) ? HTTP_VISIBLE : 0) | (IS_HOST(c) ? HTTP_HOST : 0) |   \
	 (IS_DIGIT(c) ? HTTP_DIGIT : 0) | (IS_HEX(c) ? HTTP_HEX : 0) |         \
	 (IS_SPACE(c) ? HTTP_SPACE : 0))
#define CLASS_4(c)                                                             \
	CLASS_1(c), CLASS_1((c) + 1), CLASS_1((c) + 2), CLASS_1((c) + 3)
#define CLASS_16(c)                                                            \
	CLASS_4(c), CLASS_4((c) + 4), CLASS_4((c) + 8), CLASS_4((c) + 12)
#define CLASS_64(c)                                                            \
	CLASS_16(c), CLASS_16((c) + 16), CLASS_16((c) + 32), CLASS_16((c) + 48)

const unsigned char http_classes[256] = {
	CLASS_64(0),
	CLASS_64(64),
	CLASS_64(128),
	CLASS_64(192),
};
