/* Messages between the two halves of a rung in another process: a size, and bytes. It must never wait beyond its
 * deadline nor hold more than the largest message. */
#include "rung/frames.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"

static const uint64_t message_max = (uint64_t)1 << 33;

/* Milliseconds until `deadline_ns`, for poll; -1 (for ever) when there is none. */
static int remaining_ms(int64_t deadline_ns) {
  if (deadline_ns == 0) {
    return -1;
  }
  int64_t left = (deadline_ns - clock_now_ns()) / 1000000;
  return left < 0 ? 0 : left > 1000000000 ? 1000000000 : (int)left + 1;
}

/* Waits until the socket is ready: 1, 0 at the deadline, -1 when it broke. */
static int wait_for(int socket, short events, int64_t deadline_ns) {
  for (;;) {
    struct pollfd poll_on = {.fd = socket, .events = events};
    int got = poll(&poll_on, 1, remaining_ms(deadline_ns));
    if (got > 0) {
      return 1;
    }
    if (got == 0) {
      return 0;
    }
    if (errno != EINTR) {
      return -1;
    }
  }
}

/* What goes at once. A worker's output may be a pipe, which takes no flags; whoever listens to one ignores SIGPIPE. */
static ssize_t put_some(int socket, const char *bytes, size_t size) {
  ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 && errno == ENOTSOCK ? write(socket, bytes, size) : sent;
}

static int send_all(int socket, const char *bytes, size_t size, int64_t deadline_ns) {
  while (size > 0) {
    int ready = wait_for(socket, POLLOUT, deadline_ns);
    if (ready <= 0) {
      return ready;
    }
    ssize_t sent = put_some(socket, bytes, size);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      return -1;
    }
    if (sent > 0) {
      bytes += sent;
      size -= (size_t)sent;
    }
  }
  return 1;
}

static int receive_all(int socket, char *bytes, size_t size, int64_t deadline_ns) {
  while (size > 0) {
    int ready = wait_for(socket, POLLIN, deadline_ns);
    if (ready <= 0) {
      return ready;
    }
    ssize_t got = read(socket, bytes, size); /* poll has seen that there is something */
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      return -1;
    }
    if (got > 0) {
      bytes += got;
      size -= (size_t)got;
    }
  }
  return 1;
}

int frame_send(int socket, const struct text *message, int64_t deadline_ns) {
  if (message->failed) {
    return -1;
  }
  uint64_t size = message->length;
  int sent = send_all(socket, (const char *)&size, sizeof size, deadline_ns);
  return sent == 1 ? send_all(socket, message->data, message->length, deadline_ns) : sent;
}

int frame_receive(int socket, struct text *message, int64_t deadline_ns) {
  uint64_t size = 0;
  char piece[65536];
  text_clear(message);
  int got = receive_all(socket, (char *)&size, sizeof size, deadline_ns);
  if (got != 1 || size > message_max) {
    return got == 1 ? -1 : got;
  }
  while (size > 0) {
    size_t part = size < sizeof piece ? (size_t)size : sizeof piece;
    got = receive_all(socket, piece, part, deadline_ns);
    if (got != 1) {
      return got;
    }
    text_add_bytes(message, piece, part);
    size -= part;
  }
  return message->failed ? -1 : 1;
}
