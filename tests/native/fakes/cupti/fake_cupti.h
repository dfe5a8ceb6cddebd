/* What drives the stand-in for CUPTI: the work that a program would give a GPU, and what can go
 * wrong. The library exports CUPTI's own functions beside these. All are C, for ctypes. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a launch appears. */
enum {
  FAKE_NESTED = 1,      /* the runtime's function calls the driver's */
  FAKE_OTHER_ID = 2,    /* … which has a number of its own */
  FAKE_DRIVER_ID = 4,   /* … that the record carries */
  FAKE_DRIVER_ONLY = 8, /* the driver's function alone */
  FAKE_RUNNING = 16,    /* it is not complete until fake_complete() */
  FAKE_NO_TIME = 32     /* its record has no times */
};

/* How records are delivered. */
enum {
  FAKE_WORKER = 1,  /* on a thread of the library, soon; else at a flush */
  FAKE_SHUFFLE = 2, /* out of order */
  FAKE_LATE = 4     /* not before fake_deliver() */
};

void fake_reset(void);
void fake_set_version(uint32_t version);
/* The function of this name returns `result` from now on; 0: as always. */
void fake_fail(const char* function, int32_t result);
/* Another tool has subscribed; null: none. */
void fake_set_holder(const char* name);
void fake_set_kernel_size(size_t bytes);      /* of the records of kernels */
void fake_set_buffer_records(size_t records); /* at most so many in a buffer; 0: as many as fit */
void fake_set_delivery(int flags);
/* Delivers what FAKE_LATE held back, on this thread. */
void fake_deliver(void);

uint32_t fake_launch(const char* name, uint64_t ns, uint32_t device, int flags);
uint32_t fake_copy(int kind, uint64_t bytes, uint64_t ns); /* kind as CUPTI counts; 10: peers */
uint32_t fake_set(uint64_t bytes, uint64_t ns);
void fake_wait(void); /* cudaDeviceSynchronize */
void fake_allocate(uint64_t bytes);
void fake_complete(void);
void fake_drop(size_t records); /* CUPTI had no room for so many */
void fake_load_module(const void* bytes, size_t size);
void fake_unload_module(void);
void fake_make_context(void);
void fake_destroy_context(void);

/* Samples of instructions. From now on each launch of the kernel is sampled so, where sampling is
 * on: `reason` without the vendor's prefix. */
void fake_plan_sample(const char* kernel, uint64_t cubin_crc, uint64_t offset, const char* reason,
                      uint32_t samples);
void fake_set_sample_room(size_t places); /* at most so many in a read; 0: as many as fit */
void fake_drop_samples(uint64_t samples); /* the device had no room for so many */
uint32_t fake_sample_setting(uint32_t attribute);
uint64_t fake_crc(const void* bytes, size_t size);

/* Graphs: launches between begin and end become nodes. */
void fake_capture_begin(void);
uint64_t fake_capture_end(void);                        /* the graph */
uint64_t fake_instantiate(uint64_t graph);              /* the executable graph */
uint32_t fake_graph_launch(uint64_t exec, uint64_t ns); /* each node takes so long */
void fake_destroy_exec(uint64_t exec);
void fake_destroy_graph(uint64_t graph);

int fake_subscribed(void);
int fake_kind_enabled(uint32_t kind);
size_t fake_calls(const char* function); /* of CUPTI's functions, since fake_reset */
size_t fake_pending(void);               /* records that were not delivered yet */

#ifdef __cplusplus
}
#endif
#endif
