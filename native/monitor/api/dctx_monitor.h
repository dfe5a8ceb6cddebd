/* The monitor's C interface: for tools inside the process that is recorded. The functions are
 * exported by the extension module dctx.native._core; find them with dlsym. Structures begin with
 * their size and only grow at their end. */
#ifndef DCTX_MONITOR_H
#define DCTX_MONITOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DCTX_ABI 1

enum {
  DCTX_PYTHON = 1,
  DCTX_FRAMEWORK = 2,
  DCTX_NATIVE = 4,
  DCTX_GPU = 8,
  DCTX_INSTRUCTION = 16,
  DCTX_SCOPE = 32
};

typedef enum {
  DCTX_DOMAIN_FRAMEWORK = 0, /* operators, backward operators, scopes */
  DCTX_DOMAIN_GPU = 1,       /* calls of GPU interfaces; kernels, copies, memory sets */
  DCTX_DOMAIN_MEMORY = 2,
  DCTX_DOMAIN_MODULE = 3,
  DCTX_DOMAIN_USER = 4 /* scopes; steps */
} dctx_domain;

enum { DCTX_BEGIN = 1, DCTX_END = 2, DCTX_STEP = 4 };

typedef struct {
  uint32_t size;
  uint32_t abi;
  uint32_t domain;
  uint32_t event; /* DCTX_BEGIN, DCTX_END or DCTX_STEP */
  uint32_t kind;  /* of the node: 3 scope, 4 operator, 5 backward operator, 7 … 10 below */
  uint32_t depth; /* events of the thread that are open around it */
  const char* name;
  const void* identity;   /* tells it from all other open events of the thread */
  int64_t sequence;       /* at its begin: autograd's number, -1 for none */
  int64_t forward_thread; /* at the begin of a backward operator: torch's thread id, else 0 */
  int64_t time_ns;        /* CLOCK_MONOTONIC, to the accuracy of the processor's counter */
  int64_t duration_ns;    /* at its end */
  int64_t thread;         /* the kernel's id */
  /* Of DCTX_DOMAIN_GPU, else 0. Calls (kind 7) are told on their thread when they begin and end,
   * work (kinds 8 copy, 9 memory set, 10 kernel) at its end, when its record arrives. */
  uint64_t correlation; /* one number for a call and the work it launched; 0: not known */
  uint64_t context;     /* where it was launched: thread, recording, node; all bits: not known */
  uint64_t stream;
  uint64_t bytes;
  uint64_t graph_node;
  const char* symbol; /* at the begin of a launch: what is launched, "" where not known */
  uint32_t device;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t registers;    /* per thread */
  uint32_t shared_bytes; /* per block */
  uint32_t reserved;
} dctx_event;

typedef struct {
  uint32_t size;
  uint32_t abi;
  uint32_t kind; /* 2 Python, 3 scope, 4 operator, 5 backward operator, … */
  int32_t line;
  const char* name; /* texts live as long as the process; of a native frame: the library's path */
  const char* file; /* "" but for Python */
  uint64_t offset;  /* of a native frame, in its library */
} dctx_frame;

typedef struct {
  uint32_t size;
  uint32_t abi;
  uint32_t sources;
  uint32_t reserved;
  uint64_t max_nodes; /* 0: the default */
} dctx_config;

/* On the thread of the event, with or without the interpreter's lock. Events that a listener causes
 * are not told to listeners. */
typedef void (*dctx_event_fn)(const dctx_event* event, void* user);

/* 0, or negative with the reason in dctx_last_error(). init and finalize take the interpreter's
 * lock. */
int dctx_init(const dctx_config* config);
int dctx_finalize(void);

/* A handle, or negative. Not from inside a listener. When unregister returns, the function does not
 * run and will not run again. */
int dctx_callback_register(dctx_domain domain, uint32_t event_mask, dctx_event_fn fn, void* user);
int dctx_callback_unregister(int handle);

/* The calling thread's path, outermost first; *n is its length, at most `capacity` frames are
 * written. `flags` is 0. */
int dctx_callpath_get(uint32_t sources, uint32_t flags, dctx_frame* frames, size_t capacity,
                      size_t* n);

/* Of the calling thread's last call that failed. */
const char* dctx_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
