/* SPDX-License-Identifier: MIT */
#include "http/message/error.h"

static const struct {
	int status;
	const char *text;
} errors[HTTP_NR_ERRORS] = {
	[HTTP_OK] = { 200, "the message is well-formed" },
	[HTTP_BARE_CR] = { 400, "a carriage return without a line feed" },
	[HTTP_BARE_LF] = { 400, "a line feed without a carriage return" },
	[HTTP_EMPTY_LINES] = { 400,
			       "more than one empty line before a request" },
	[HTTP_BAD_LINE] = { 400, "the first line lacks a part" },
	[HTTP_BAD_METHOD] = { 400, "the method is not a token" },
	[HTTP_BAD_TARGET] = { 400,
			      "the target is empty, or has a character that "
			      "must be escaped" },
	[HTTP_BAD_VERSION] = { 400,
			       "the version is not \"HTTP/\", a digit, a dot "
			       "and a digit" },
	[HTTP_OTHER_VERSION] = { 505, "the version is neither HTTP/1.0 nor "
				      "HTTP/1.1" },
	[HTTP_BAD_STATUS] = { 400,
			      "the status is not a number from 100 to 599" },
	[HTTP_BAD_REASON] = { 400, "a control character in the reason" },
	[HTTP_FOLDED_LINE] = { 400, "a field that goes on in the next line, or "
				    "begins with a space" },
	[HTTP_SPACE_BEFORE_COLON] = { 400,
				      "a space between the name of a field "
				      "and the colon" },
	[HTTP_EMPTY_NAME] = { 400, "a field without a name" },
	[HTTP_BAD_NAME] = { 400, "the name of a field is not a token, or lacks "
				 "the colon" },
	[HTTP_BAD_VALUE] = { 400,
			     "a control character in the value of a field" },
	[HTTP_LENGTH_TWICE] = { 400, "two Content-Length fields" },
	[HTTP_BAD_LENGTH] = { 400,
			      "the Content-Length is not a number of digits "
			      "only" },
	[HTTP_LENGTH_OVERFLOW] = { 413,
				   "the Content-Length is above 2^63 - 1" },
	[HTTP_LENGTH_AND_CODING] = { 400, "both Content-Length and "
					  "Transfer-Encoding" },
	[HTTP_CODING_TWICE] = { 400, "two Transfer-Encoding fields" },
	[HTTP_CODING_IN_1_0] = { 400, "Transfer-Encoding in HTTP/1.0" },
	[HTTP_CODING_NOT_CHUNKED] = { 400, "the last transfer coding is not "
					   "chunked" },
	[HTTP_OTHER_CODING] = { 501, "a transfer coding beside chunked" },
	[HTTP_NO_HOST] = { 400, "an HTTP/1.1 request without Host" },
	[HTTP_HOST_TWICE] = { 400, "two Host fields" },
	[HTTP_BAD_HOST] = { 400, "the Host has a character that no host has" },
	[HTTP_LINE_TOO_LONG] = { 414,
				 "the first line is longer than the limit" },
	[HTTP_HEAD_TOO_LARGE] = { 431, "the head is larger than the limit" },
	[HTTP_TOO_MANY_FIELDS] = { 431, "more fields than the limit" },
	[HTTP_BAD_CHUNK_SIZE] = { 400,
				  "the size of a chunk is not a hexadecimal "
				  "number" },
	[HTTP_CHUNK_OVERFLOW] = { 413,
				  "the size of a chunk is above 2^63 - 1, or "
				  "has more than 16 digits" },
	[HTTP_BAD_CHUNK_END] = { 400,
				 "the data of a chunk goes on behind the size "
				 "of the chunk" },
	[HTTP_BAD_EXTENSION] = { 400,
				 "a control character in the extension of a "
				 "chunk" },
	[HTTP_EXTENSION_TOO_LONG] = { 413,
				      "extensions of chunks are longer than "
				      "the limit" },
	[HTTP_TRAILERS_TOO_LARGE] = { 431,
				      "trailers are larger than the limit" },
	[HTTP_BODY_TOO_LARGE] = { 413, "the body is larger than the limit" },
	[HTTP_BODY_CUT] = { 400, "the connection ended inside of a body" },
	[HTTP_BAD_FORM] = { 400, "the target is neither a path, nor an http "
				 "address, nor an asterisk" },
	[HTTP_BAD_ESCAPE] = { 400,
			      "a percent sign without two hexadecimal digits "
			      "behind" },
	[HTTP_ESCAPED_CONTROL] = { 400,
				   "an escaped control character in a path" },
	[HTTP_ESCAPED_SLASH] = { 400, "an escaped slash in a path" },
	[HTTP_DOT_SEGMENT] = { 400,
			       "a path with \".\" or \"..\" between slashes" },
	[HTTP_PATH_TOO_LONG] = { 414, "the path is longer than the limit" },
};

const char *http_error_text(enum http_error error)
{
	return errors[error].text;
}

int http_error_status(enum http_error error)
{
	return errors[error].status;
}
