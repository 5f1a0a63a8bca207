/* Messages between the two halves of a rung in another process, on this machine or another: a size of 8 bytes,
 * little-endian, and so many bytes, over a socket or a pipe. What a message says is wire.h's affair. */
#ifndef RUNG_FRAMES_H
#define RUNG_FRAMES_H

#include "core/text.h"

/* Each answers 1; 0 at the deadline (0: there is none); -1 when the other side is gone or the message is too large. */
int frame_send(int socket, const struct text *message, int64_t deadline_ns);
int frame_receive(int socket, struct text *message, int64_t deadline_ns);

#endif
