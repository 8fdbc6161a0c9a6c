#include "kernels/interpreter/cudart_streams.hpp"

#include <algorithm>
#include <utility>

namespace cudamatrix::suite::ptx {
namespace {

constexpr unsigned kNonBlocking = 1;  // cudaStreamNonBlocking

int create_handle(void** handle, bool event, bool blocking) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (handle == nullptr) return result(kInvalidValue);
    auto made = std::make_unique<Handle>();
    made->event = event;
    made->blocking = blocking;
    *handle = made.get();
    runtime.handles[*handle] = std::move(made);
    return result(kSuccess);
}

int destroy_handle(void* handle, bool event) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const Handle* found = find_handle(handle, event);
    if (found == nullptr) return result(kInvalidHandle);
    // A capture that lost a stream cannot be ended.
    if (!event && found->capture != nullptr) found->capture->invalid = true;
    runtime.handles.erase(handle);
    return result(kSuccess);
}

/// Of calls that wait for a stream.
int wait_for_stream(void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    if (!is_stream(handle)) return result(kInvalidHandle);
    const Handle* found = find_handle(handle, false);
    if (found == nullptr) return result(unsafe_in_capture());
    if (found->capture == nullptr) {
        synchronise_pool();
        return result(kSuccess);
    }
    found->capture->invalid = true;
    return result(kCaptureUnsupported);
}

int wait_for_event(void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    const Handle* found = find_handle(handle, true);
    if (found == nullptr) return result(kInvalidHandle);
    if (found->capture == nullptr) return result(kSuccess);
    found->capture->invalid = true;
    return result(kCapturedEvent);
}

int record(Handle& event, void* stream) {
    const Handle* source = find_handle(stream, false);
    event.capture = source == nullptr ? nullptr : source->capture;
    event.frontier = source == nullptr ? std::vector<std::size_t>() : source->frontier;
    event.recorded = std::chrono::steady_clock::now();
    event.is_recorded = event.capture == nullptr;
    return kSuccess;
}

/// A stream that captures, or an event that was captured: their graph gets an edge, or it is spoilt.
int wait_in_capture(Handle* stream, const Handle& event) {
    if (stream == nullptr) {
        event.capture->invalid = true;
        return kCaptureImplicit;
    }
    const auto spoil = [&](int error) {
        if (stream->capture != nullptr) stream->capture->invalid = true;
        if (event.capture != nullptr) event.capture->invalid = true;
        return error;
    };
    if (event.capture == nullptr) return spoil(kCaptureIsolation);
    if (event.capture->ended) return spoil(stream->capture == nullptr ? kCapturedEvent : kCaptureIsolation);
    if (stream->capture != nullptr && stream->capture != event.capture) return spoil(kCaptureMerge);
    stream->capture = event.capture;
    stream->frontier.insert(stream->frontier.end(), event.frontier.begin(), event.frontier.end());
    return kSuccess;
}

}  // namespace

Handle* find_handle(void* handle, bool event) {
    Runtime& runtime = Runtime::get();
    const auto known = runtime.handles.find(handle);
    return known != runtime.handles.end() && known->second->event == event ? known->second.get() : nullptr;
}

bool is_stream(void* handle) {
    return reinterpret_cast<std::uintptr_t>(handle) <= 2 || find_handle(handle, false) != nullptr;
}

int in_stream(void* stream, std::function<int()> work) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (!is_stream(stream)) return kInvalidHandle;
    Handle* found = find_handle(stream, false);
    if (found == nullptr) {
        // The legacy stream waits for those that block, and what they capture has not been done.
        for (const auto& [address, handle] : runtime.handles) {
            if (handle->event || handle->capture == nullptr || !handle->blocking) continue;
            handle->capture->invalid = true;
            return kCaptureImplicit;
        }
        return work();
    }
    if (found->capture == nullptr) return work();
    if (found->capture->invalid) return kCaptureInvalidated;
    std::vector<GraphNode>& nodes = found->capture->graph.nodes;
    nodes.push_back({std::move(work), std::move(found->frontier)});
    found->frontier = {nodes.size() - 1};
    return kSuccess;
}

int unsafe_in_capture() {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    int error = kSuccess;
    for (const auto& [address, handle] : runtime.handles) {
        if (handle->event || handle->capture == nullptr || handle->capture->mode == kCaptureRelaxed) continue;
        if (handle->capture->mode == kCaptureThreadLocal &&
            handle->capture->thread != std::this_thread::get_id())
            continue;
        handle->capture->invalid = true;
        error = kCaptureUnsupported;
    }
    return error;
}

}  // namespace cudamatrix::suite::ptx

using namespace cudamatrix::suite::ptx;

CUDAMATRIX_API int cudaStreamCreate(void** stream) {
    return create_handle(stream, false, true);
}
CUDAMATRIX_API int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
    return create_handle(stream, false, (flags & kNonBlocking) == 0);
}
CUDAMATRIX_API int cudaStreamDestroy(void* stream) {
    return destroy_handle(stream, false);
}
CUDAMATRIX_API int cudaStreamSynchronize(void* stream) {
    return wait_for_stream(stream);
}
CUDAMATRIX_API int cudaStreamQuery(void* stream) {
    return wait_for_stream(stream);
}

CUDAMATRIX_API int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    const Handle* awaited = find_handle(event, true);
    if (!is_stream(stream) || awaited == nullptr) return result(kInvalidHandle);
    Handle* waiting = find_handle(stream, false);
    const bool captures = (waiting != nullptr && waiting->capture != nullptr) || awaited->capture != nullptr;
    return result(captures ? wait_in_capture(waiting, *awaited) : kSuccess);
}

CUDAMATRIX_API int cudaEventCreate(void** event) {
    return create_handle(event, true, true);
}
CUDAMATRIX_API int cudaEventCreateWithFlags(void** event, unsigned) {
    return create_handle(event, true, true);
}
CUDAMATRIX_API int cudaEventDestroy(void* event) {
    return destroy_handle(event, true);
}
CUDAMATRIX_API int cudaEventSynchronize(void* event) {
    return wait_for_event(event);
}
CUDAMATRIX_API int cudaEventQuery(void* event) {
    return wait_for_event(event);
}

CUDAMATRIX_API int cudaEventRecord(void* event, void* stream) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    Handle* found = find_handle(event, true);
    if (found == nullptr || !is_stream(stream)) return result(kInvalidHandle);
    return result(record(*found, stream));
}

CUDAMATRIX_API int cudaEventElapsedTime(float* milliseconds, void* begin, void* end) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    const Handle* first = find_handle(begin, true);
    const Handle* last = find_handle(end, true);
    if (first == nullptr || last == nullptr || !first->is_recorded || !last->is_recorded)
        return result(kInvalidHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(last->recorded - first->recorded).count();
    return result(kSuccess);
}
