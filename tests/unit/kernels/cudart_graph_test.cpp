// Streams that capture: what is recorded, what a launch of it does, and what may not come in between.
#ifdef SUITE_CUDART  // not in the tree with sanitizers, which do not go into libraries that are loaded
#include <functional>
#include <thread>

#include "unit/kernels/cudart_fixture.hpp"

namespace {

// x = x * 3 + 1 in one thread.
constexpr const char* kNext =
    "ld.global.u32 %r2, [%rd1]; mad.lo.u32 %r2, %r2, 3, 1; st.global.u32 [%rd1], %r2;";

/// A runtime with one kernel, two streams and an event.
struct Captures {
    explicit Captures(const std::string& version = "13") : cudart(version) {
        cudart.add_kernel(&kernel, kNext);
        x = cudart.upload({1, 0});
        first = cudart.stream();
        second = cudart.stream();
        event = cudart.event();
    }
    int begin(void* stream, int mode = 0) { return cudart.call("cudaStreamBeginCapture", stream, mode); }
    int end(void* stream) { return cudart.call("cudaStreamEndCapture", stream, &graph); }
    int next(void* stream) { return cudart.launch(&kernel, {}, {}, {&x}, stream); }
    int record(void* stream) { return cudart.call("cudaEventRecord", event, stream); }
    int wait(void* stream) { return cudart.call("cudaStreamWaitEvent", stream, event, 0U); }
    int instantiate(unsigned long long flags = 0) {
        return cudart.call("cudaGraphInstantiate", &executable, graph, flags);
    }
    int run(void* stream) { return cudart.call("cudaGraphLaunch", executable, stream); }
    int copy_to_second() {
        return cudart.call("cudaMemcpyAsync", static_cast<void*>(static_cast<char*>(x) + 4),
                           static_cast<const void*>(x), std::size_t{4}, 3, first);
    }
    std::size_t nodes() {
        std::size_t count = 99;
        CHECK(cudart.call("cudaGraphGetNodes", graph, static_cast<void**>(nullptr), &count) == 0);
        return count;
    }
    int status(void* stream) {
        int found = -1;
        CHECK(cudart.call("cudaStreamIsCapturing", stream, &found) == 0);
        return found;
    }
    std::uint32_t value() { return cudart.download(x, 1)[0]; }

    Cudart cudart;
    char kernel = 0;
    void* x = nullptr;
    void* first = nullptr;
    void* second = nullptr;
    void* event = nullptr;
    void* graph = nullptr;
    void* executable = nullptr;
};

}  // namespace

TEST_CASE("interpreter: a captured graph does its work when it is launched, and as often") {
    for (const char* version : {"11.0", "12", "13"}) {
        CAPTURE(version);
        Captures c(version);
        CHECK(c.status(c.first) == 0);
        CHECK(c.begin(c.first) == 0);
        CHECK(c.status(c.first) == 1);
        CHECK(c.next(c.first) == 0);
        CHECK(c.copy_to_second() == 0);
        CHECK(c.cudart.call("cudaMemsetAsync", c.x, 0, std::size_t{2}, c.first) == 0);
        CHECK(c.end(c.first) == 0);
        CHECK(c.status(c.first) == 0);
        CHECK(c.nodes() == 3);
        CHECK(c.value() == 1);
        CHECK(c.instantiate() == 0);
        // What was instantiated has its own copy.
        CHECK(c.cudart.call("cudaGraphDestroy", c.graph) == 0);
        for (int i = 0; i < 3; ++i)
            CHECK(c.run(c.second) == 0);
        CHECK(c.cudart.download(c.x, 2) == std::vector<std::uint32_t>{0, 1});
        CHECK(c.cudart.call("cudaGraphExecDestroy", c.executable) == 0);
        CHECK(c.run(c.second) == 1);
        CHECK(c.cudart.call("cudaGraphExecDestroy", c.executable) == 1);
        CHECK(c.cudart.call("cudaGraphDestroy", c.graph) == 1);
    }
}

TEST_CASE("interpreter: flags of cudaGraphInstantiate are no pointers of 11.x") {
    for (const char* version : {"11.0", "12", "13"}) {
        CAPTURE(version);
        Captures c(version);
        REQUIRE(c.begin(c.first) == 0);
        REQUIRE(c.end(c.first) == 0);
        CHECK(c.nodes() == 0);
        void* node = nullptr;
        char log[8] = {};
        const int five =
            c.cudart.call("cudaGraphInstantiate", &c.executable, c.graph, &node, log, sizeof log);
        CHECK(five == (std::string(version) == "11.0" ? 0 : 801));
        CHECK(c.cudart.call("cudaGraphInstantiateWithFlags", &c.executable, c.graph, 0ULL) == 0);
        CHECK(c.run(c.first) == 0);
        CHECK(c.cudart.call("cudaGraphInstantiateWithFlags", &c.executable, c.graph, 4ULL) == 801);
        CHECK(c.cudart.call("cudaGraphInstantiate", &c.executable, c.executable, 0ULL) == 1);
    }
}

TEST_CASE("interpreter: events order the nodes of a graph, and what they do not order changes places") {
    const auto launched_twice = [](bool ordered) {
        Captures c;
        const std::uint32_t two[] = {2};
        const auto set = [&] {
            return c.cudart.call("cudaMemcpyAsync", c.x, static_cast<const void*>(two), std::size_t{4}, 1,
                                 c.second);
        };
        REQUIRE(c.begin(c.first) == 0);
        if (!ordered) REQUIRE(c.record(c.first) == 0);
        REQUIRE(c.next(c.first) == 0);
        if (ordered) REQUIRE(c.record(c.first) == 0);
        REQUIRE(c.wait(c.second) == 0);
        REQUIRE(set() == 0);
        REQUIRE(c.record(c.second) == 0);
        REQUIRE(c.wait(c.first) == 0);
        REQUIRE(c.end(c.first) == 0);
        REQUIRE(c.instantiate() == 0);
        CHECK(c.run(c.first) == 0);
        const std::uint32_t first = c.value();
        CHECK(c.run(c.first) == 0);
        return std::vector<std::uint32_t>{first, c.value()};
    };
    CHECK(launched_twice(true) == std::vector<std::uint32_t>{2, 2});
    CHECK(launched_twice(false) == std::vector<std::uint32_t>{2, 7});
}

TEST_CASE("interpreter: a capture ends where it began, with all that was forked") {
    Captures c;
    CHECK(c.end(c.first) == 401);
    CHECK(c.begin(nullptr) == 900);
    CHECK(c.begin(c.event) == 400);
    CHECK(c.begin(c.first, 3) == 1);
    REQUIRE(c.begin(c.first) == 0);
    CHECK(c.begin(c.first) == 401);
    REQUIRE(c.record(c.first) == 0);
    REQUIRE(c.wait(c.second) == 0);
    CHECK(c.status(c.second) == 1);
    REQUIRE(c.next(c.second) == 0);
    SUBCASE("not joined") {
        CHECK(c.end(c.first) == 904);
    }
    SUBCASE("on the other stream") {
        CHECK(c.end(c.second) == 903);
        CHECK(c.end(c.first) == 901);
    }
    SUBCASE("from another thread") {
        int code = 0;
        std::thread([&] { code = c.end(c.first); }).join();
        CHECK(code == 908);
        CHECK(c.status(c.first) == 1);
        CHECK(c.end(c.first) == 904);
    }
    SUBCASE("a stream is lost") {
        CHECK(c.cudart.call("cudaStreamDestroy", c.second) == 0);
        CHECK(c.end(c.first) == 901);
    }
    CHECK(c.graph == nullptr);
    CHECK(c.instantiate() == 1);
    CHECK(c.status(c.first) == 0);
    CHECK(c.value() == 1);
}

TEST_CASE("interpreter: calls that may not come into a capture fail, and spoil it") {
    struct Row {
        const char* what;
        int code;
        std::function<int(Captures&)> call;
    };
    void* memory = nullptr;
    std::uint32_t host = 0;
    const Row rows[] = {
        {"cudaStreamSynchronize", 900,
         [](auto& c) { return c.cudart.call("cudaStreamSynchronize", c.first); }},
        {"cudaStreamQuery", 900, [](auto& c) { return c.cudart.call("cudaStreamQuery", c.first); }},
        {"cudaDeviceSynchronize", 900, [](auto& c) { return c.cudart.call("cudaDeviceSynchronize"); }},
        {"cudaMalloc", 900, [&](auto& c) { return c.cudart.call("cudaMalloc", &memory, std::size_t{4}); }},
        {"cudaFree", 900, [](auto& c) { return c.cudart.call("cudaFree", c.x); }},
        {"cudaMemcpy", 900,
         [&](auto& c) {
             return c.cudart.call("cudaMemcpy", static_cast<void*>(&host), static_cast<const void*>(c.x),
                                  std::size_t{4}, 2);
         }},
        {"an event from outside", 905,
         [](auto& c) {
             void* other = c.cudart.event();
             return c.cudart.call("cudaStreamWaitEvent", c.first, other, 0U);
         }},
        {"cudaEventSynchronize", 907,
         [](auto& c) {
             REQUIRE(c.record(c.first) == 0);
             return c.cudart.call("cudaEventSynchronize", c.event);
         }},
        {"the legacy stream waits", 906,
         [](auto& c) {
             REQUIRE(c.record(c.first) == 0);
             return c.wait(nullptr);
         }},
        {"two captures meet", 902,
         [](auto& c) {
             REQUIRE(c.begin(c.second) == 0);
             REQUIRE(c.record(c.second) == 0);
             return c.wait(c.first);
         }},
        {"a graph in a graph", 801,
         [](auto& c) {
             REQUIRE(c.instantiate() == 0);
             return c.run(c.first);
         }},
    };
    for (const Row& row : rows) {
        CAPTURE(std::string(row.what));
        Captures c;
        REQUIRE(c.begin(c.first) == 0);
        REQUIRE(c.end(c.first) == 0);
        REQUIRE(c.begin(c.first) == 0);
        REQUIRE(c.next(c.first) == 0);
        CHECK(row.call(c) == row.code);
        CHECK(c.status(c.first) == 2);
        CHECK(c.next(c.first) == 901);
        CHECK(c.end(c.first) == 901);
        CHECK(c.graph == nullptr);
        if (c.status(c.second) != 0) CHECK(c.end(c.second) == 901);  // the other of two
        CHECK(c.next(c.first) == 0);
        CHECK(c.value() == 4);
    }
}

TEST_CASE("interpreter: what a capture does not forbid") {
    Captures c;
    // Of other threads, and in the mode that forbids nothing.
    REQUIRE(c.begin(c.first, 1) == 0);
    int code = -1;
    std::thread([&] { code = c.cudart.call("cudaDeviceSynchronize"); }).join();
    CHECK(code == 0);
    CHECK(c.next(nullptr) == 0);  // does not wait for it
    CHECK(c.end(c.first) == 0);
    REQUIRE(c.begin(c.first, 2) == 0);
    CHECK(c.cudart.call("cudaDeviceSynchronize") == 0);
    CHECK(c.value() == 4);
    CHECK(c.end(c.first) == 0);
    // Streams that the legacy one waits for.
    void* blocking = c.cudart.stream(0);
    REQUIRE(c.begin(blocking, 2) == 0);
    CHECK(c.next(nullptr) == 906);
    CHECK(c.end(blocking) == 901);
    // The event of a capture that is over belongs to nobody.
    REQUIRE(c.begin(c.first) == 0);
    REQUIRE(c.record(c.first) == 0);
    REQUIRE(c.end(c.first) == 0);
    CHECK(c.wait(c.second) == 907);
    CHECK(c.record(c.second) == 0);
    CHECK(c.wait(c.first) == 0);
}

TEST_CASE("interpreter: a node that fails ends the launch of its graph") {
    Captures c;
    REQUIRE(c.begin(c.first) == 0);
    REQUIRE(c.cudart.call("cudaMemsetAsync", c.x, 0, std::size_t{64}, c.first) == 0);
    REQUIRE(c.next(c.first) == 0);
    REQUIRE(c.end(c.first) == 0);
    REQUIRE(c.instantiate() == 0);
    CHECK(c.run(c.first) == 1);
    CHECK(c.value() == 1);
    CHECK(c.run(static_cast<void*>(&c)) == 400);
    CHECK(c.cudart.call("cudaMemcpyAsync", c.x, static_cast<const void*>(c.x), std::size_t{4}, 3, c.event) ==
          400);
    CHECK(c.next(c.event) == 400);
    // A fault of a kernel shows in later calls.
    REQUIRE(c.begin(c.first) == 0);
    void* nowhere = nullptr;
    REQUIRE(c.cudart.launch(&c.kernel, {}, {}, {&nowhere}, c.first) == 0);
    REQUIRE(c.next(c.first) == 0);
    REQUIRE(c.end(c.first) == 0);
    REQUIRE(c.instantiate() == 0);
    CHECK(c.run(c.first) == 700);
    CHECK(c.cudart.call("cudaDeviceSynchronize") == 700);
}
#endif
