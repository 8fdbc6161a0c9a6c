#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/interpreter/cudart_state.hpp"

/// Streams and events. Work in streams is done when the call returns, unless the stream captures it.
namespace cudamatrix::suite::ptx {

/// One operation of a graph; gives an error.
struct GraphNode {
    std::function<int()> work;
    std::vector<std::size_t> after;  ///< nodes that must have been done, all of them earlier ones
};

struct Graph {
    std::vector<GraphNode> nodes;
    std::size_t launches = 0;
};

enum CaptureMode : int { kCaptureGlobal, kCaptureThreadLocal, kCaptureRelaxed };

/// What streams record between cudaStreamBeginCapture and cudaStreamEndCapture.
struct Capture {
    Graph graph;
    void* origin = nullptr;  ///< the stream that began
    int mode = kCaptureGlobal;
    std::thread::id thread;
    bool invalid = false;
    bool ended = false;
};

/// A stream or an event.
struct Handle {
    bool event = false;
    bool blocking = true;  ///< stream: waits for the legacy one, and this for it
    std::chrono::steady_clock::time_point recorded;
    bool is_recorded = false;
    std::shared_ptr<Capture> capture;  ///< that a stream records into, or an event was recorded in
    std::vector<std::size_t>
        frontier;  ///< nodes behind which the next one of the stream comes, or whoever waits
};

/// The handle's object; null for the streams 0, 1 and 2 that always exist, and when there is none.
[[nodiscard]] Handle* find_handle(void* handle, bool event);
[[nodiscard]] bool is_stream(void* handle);

/// Does the work now, or makes it a node of the graph that the stream captures. The error of the work, or why
/// it was not taken.
int in_stream(void* stream, std::function<int()> work);
/// The error of a call that may not come while a stream captures; it spoils the capture. kSuccess otherwise.
int unsafe_in_capture();

/// The host waited: the pool gives back what is beyond its threshold.
void synchronise_pool();
/// Memory of the pool, if it is, was freed.
void forget_in_pool(std::uint64_t address);

}  // namespace cudamatrix::suite::ptx
