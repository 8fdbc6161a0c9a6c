// Graphs that streams capture (CUDA Runtime API, "Stream Management" and "Graph Management"). They are made
// by capture only; nodes are launches, copies and sets of memory.
#include <algorithm>
#include <utility>

#include "kernels/interpreter/cudart_streams.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

constexpr int kFirstWithFlags = 12000;  // of cudaGraphInstantiate; before it takes a node and a log

using Graphs = std::map<void*, std::unique_ptr<Graph>>;

void* keep(Graphs& graphs, Graph graph) {
    auto made = std::make_unique<Graph>(std::move(graph));
    void* handle = made.get();
    graphs[handle] = std::move(made);
    return handle;
}

Graph* find_graph(const Graphs& graphs, void* handle) {
    const auto known = graphs.find(handle);
    return known == graphs.end() ? nullptr : known->second.get();
}

int drop(Graphs& graphs, void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    return result(graphs.erase(handle) != 0 ? kSuccess : kInvalidValue);
}

/// Does the stream that ends the capture come behind all that was captured?
bool all_joined(const Graph& graph, const std::vector<std::size_t>& frontier) {
    std::vector<char> before(graph.nodes.size(), 0);
    for (const std::size_t node : frontier)
        before[node] = 1;
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        if (before[i] == 0) return false;
        for (const std::size_t node : graph.nodes[i].after)
            before[node] = 1;
    }
    return true;
}

void end(Runtime& runtime, const std::shared_ptr<Capture>& capture) {
    capture->ended = true;
    for (const auto& [address, handle] : runtime.handles) {
        if (handle->event || handle->capture != capture) continue;
        handle->capture = nullptr;
        handle->frontier.clear();
    }
}

/// A node that is not done and comes behind no other such: the first, or the last one captured.
std::size_t next_node(const Graph& graph, const std::vector<char>& done, bool last) {
    const std::size_t count = graph.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t node = last ? count - 1 - i : i;
        const auto& after = graph.nodes[node].after;
        if (done[node] == 0 &&
            std::all_of(after.begin(), after.end(), [&](std::size_t n) { return done[n] != 0; }))
            return node;
    }
    return count;
}

int instantiate(void** executable, void* graph, unsigned long long flags) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const Graph* found = find_graph(runtime.graphs, graph);
    if (executable == nullptr || found == nullptr) return result(kInvalidValue);
    if (flags != 0) return result(kNotSupported);
    *executable = keep(runtime.executables, *found);
    return result(kSuccess);
}

}  // namespace

CUDAMATRIX_API int cudaStreamBeginCapture(void* stream, int mode) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    if (!is_stream(stream)) return result(kInvalidHandle);
    if (mode < kCaptureGlobal || mode > kCaptureRelaxed) return result(kInvalidValue);
    Handle* found = find_handle(stream, false);
    if (found == nullptr) return result(kCaptureUnsupported);
    if (found->capture != nullptr) return result(kIllegalState);
    found->capture = std::make_shared<Capture>();
    found->capture->origin = stream;
    found->capture->mode = mode;
    found->capture->thread = std::this_thread::get_id();
    found->frontier.clear();
    return result(kSuccess);
}

CUDAMATRIX_API int cudaStreamIsCapturing(void* stream, int* status) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    if (status == nullptr) return result(kInvalidValue);
    if (!is_stream(stream)) return result(kInvalidHandle);
    const Handle* found = find_handle(stream, false);
    *status = found == nullptr || found->capture == nullptr ? 0 : found->capture->invalid ? 2 : 1;
    return result(kSuccess);
}

CUDAMATRIX_API int cudaStreamEndCapture(void* stream, void** graph) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (graph == nullptr) return result(kInvalidValue);
    *graph = nullptr;
    if (!is_stream(stream)) return result(kInvalidHandle);
    Handle* found = find_handle(stream, false);
    if (found == nullptr || found->capture == nullptr) return result(kIllegalState);
    const std::shared_ptr<Capture> capture = found->capture;
    if (capture->mode != kCaptureRelaxed && capture->thread != std::this_thread::get_id())
        return result(kCaptureWrongThread);
    if (capture->origin != stream) {
        capture->invalid = true;
        return result(kCaptureUnmatched);
    }
    const bool joined = all_joined(capture->graph, found->frontier);
    end(runtime, capture);
    if (capture->invalid) return result(kCaptureInvalidated);
    if (!joined) return result(kCaptureUnjoined);
    *graph = keep(runtime.graphs, std::move(capture->graph));
    return result(kSuccess);
}

CUDAMATRIX_API int cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    Graph* found = find_graph(runtime.graphs, graph);
    if (found == nullptr || count == nullptr) return result(kInvalidValue);
    if (nodes == nullptr) {
        *count = found->nodes.size();
        return result(kSuccess);
    }
    for (std::size_t i = 0; i < *count; ++i)
        nodes[i] = i < found->nodes.size() ? &found->nodes[i] : nullptr;
    *count = std::min(*count, found->nodes.size());
    return result(kSuccess);
}

// Up to 11.x (executable, graph, node of an error, log, its size), from 12.0 on (executable, graph, flags).
CUDAMATRIX_API int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags) {
    return instantiate(executable, graph, runtime_version() < kFirstWithFlags ? 0 : flags);
}

CUDAMATRIX_API int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
    return instantiate(executable, graph, flags);
}

/// Every second launch takes what nothing orders the other way round, so that an edge that is missing shows.
CUDAMATRIX_API int cudaGraphLaunch(void* executable, void* stream) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    Graph* found = find_graph(runtime.executables, executable);
    if (found == nullptr) return result(kInvalidValue);
    const Handle* into = find_handle(stream, false);
    if (into != nullptr && into->capture != nullptr) {
        into->capture->invalid = true;  // a graph in a graph
        return result(kNotSupported);
    }
    return result(in_stream(stream, [&] {
        const bool last = found->launches++ % 2 == 1;
        std::vector<char> done(found->nodes.size(), 0);
        for (std::size_t i = 0; i < done.size() && runtime.sticky == kSuccess; ++i) {
            const std::size_t node = next_node(*found, done, last);
            const int error = found->nodes[node].work();
            if (error != kSuccess) return error;
            done[node] = 1;
        }
        return static_cast<int>(kSuccess);
    }));
}

CUDAMATRIX_API int cudaGraphExecDestroy(void* executable) {
    return drop(Runtime::get().executables, executable);
}

CUDAMATRIX_API int cudaGraphDestroy(void* graph) {
    return drop(Runtime::get().graphs, graph);
}
