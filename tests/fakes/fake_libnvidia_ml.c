/* A libnvidia-ml.so.1 for tests of dev.health. It answers as its environment says; "none" = not supported (3):
 *   FAKE_NVML_INIT, FAKE_NVML_GPUS           what nvmlInit_v2 returns (0), and how many GPUs there are (1)
 *   FAKE_NVML_LOST                           what every call about a GPU returns (0); 15 = fallen off the bus
 *   FAKE_NVML_ECC                            uncorrected volatile errors (0)
 *   FAKE_NVML_RETIRED, _RETIRE_PENDING       pages retired for double-bit errors; whether some wait (0)
 *   FAKE_NVML_REMAPPED, _REMAP_PENDING, _REMAP_FAILED   rows likewise (0)
 *   FAKE_NVML_THROTTLE                       bits (1: idle)
 *   FAKE_NVML_TEMPERATURE, _SHUTDOWN_AT      degrees (41, 92)
 * All but the first GPU's are healthy. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3, kInsufficientSize = 7 };

static int initialised = 0;

static long number(const char* name, long fallback) {
    const char* text = getenv(name);
    return text != NULL ? strtol(text, NULL, 0) : fallback;
}

/* The answer for one GPU; `healthy` is that of every other. */
static int answer(void* device, const char* name, long fallback, long healthy, unsigned long long* value) {
    const char* text = getenv(name);
    if (!initialised) return kUninitialized;
    if (number("FAKE_NVML_LOST", 0) != 0) return (int)number("FAKE_NVML_LOST", 0);
    if (text != NULL && strcmp(text, "none") == 0) return kNotSupported;
    *value = (unsigned long long)((size_t)device == 1 ? number(name, fallback) : healthy);
    return kSuccess;
}

int nvmlInit_v2(void) {
    const int code = (int)number("FAKE_NVML_INIT", kSuccess);
    initialised = code == kSuccess;
    return code;
}

int nvmlShutdown(void) {
    initialised = 0;
    return kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
    if (!initialised) return kUninitialized;
    *count = (unsigned)number("FAKE_NVML_GPUS", 1);
    return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    if (!initialised) return kUninitialized;
    if (index >= (unsigned)number("FAKE_NVML_GPUS", 1)) return kInvalidArgument;
    *device = (void*)(size_t)(index + 1);
    return kSuccess;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
    unsigned long long ignored = 0;
    const int code = answer(device, "FAKE_NVML_UUID", 0, 0, &ignored);
    if (code == kSuccess) snprintf(uuid, length, "GPU-fake-%zu", (size_t)device - 1);
    return code;
}

int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* errors) {
    if (type != 1 || counter != 0) return kInvalidArgument;
    return answer(device, "FAKE_NVML_ECC", 0, 0, errors);
}

int nvmlDeviceGetRetiredPages(void* device, int cause, unsigned* count, unsigned long long* addresses) {
    unsigned long long pages = 0;
    const int code = answer(device, "FAKE_NVML_RETIRED", 0, 0, &pages);
    if (cause != 1 || (addresses != NULL && *count != 0)) return kInvalidArgument;
    if (code != kSuccess) return code;
    *count = (unsigned)pages;
    return pages != 0 ? kInsufficientSize : kSuccess;
}

int nvmlDeviceGetRetiredPagesPendingStatus(void* device, int* pending) {
    unsigned long long value = 0;
    const int code = answer(device, "FAKE_NVML_RETIRE_PENDING", 0, 0, &value);
    if (code == kSuccess) *pending = (int)value;
    return code;
}

int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
    unsigned long long rows = 0, waiting = 0, failure = 0;
    const int code = answer(device, "FAKE_NVML_REMAPPED", 0, 0, &rows);
    if (code != kSuccess) return code;
    answer(device, "FAKE_NVML_REMAP_PENDING", 0, 0, &waiting);
    answer(device, "FAKE_NVML_REMAP_FAILED", 0, 0, &failure);
    *corrected = 0;
    *uncorrected = (unsigned)rows;
    *pending = (unsigned)waiting;
    *failed = (unsigned)failure;
    return kSuccess;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
    return answer(device, "FAKE_NVML_THROTTLE", 1, 1, reasons);
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
    unsigned long long value = 0;
    const int code = answer(device, "FAKE_NVML_TEMPERATURE", 41, 41, &value);
    if (sensor != 0) return kInvalidArgument;
    if (code == kSuccess) *degrees = (unsigned)value;
    return code;
}

int nvmlDeviceGetTemperatureThreshold(void* device, int threshold, unsigned* degrees) {
    unsigned long long value = 0;
    const int code = answer(device, "FAKE_NVML_SHUTDOWN_AT", 92, 92, &value);
    if (threshold != 0) return kInvalidArgument;
    if (code == kSuccess) *degrees = (unsigned)value;
    return code;
}
