// con.streams must turn red with each way that the order of its kernels can be lost.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "kernels/concurrency/streams.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr std::size_t kN = kStreamsLength;

// What step `step` does, as the kernel has it: from the row as it is now.
void run_step(StreamsOutputs& outputs, int step, int from_row) {
    for (std::size_t i = 0; i < kN; ++i) {
        const std::uint32_t value = outputs.rows[static_cast<std::size_t>(from_row) * kN + i];
        outputs.rows[(static_cast<std::size_t>(step) + 1) * kN + i] =
            value * 1664525U + static_cast<unsigned>(step) + 1U;
    }
    outputs.flag.blocks += kStreamsBlocks;
    outputs.flag.arch = 900;
}

StreamsOutputs in_order() {
    StreamsOutputs outputs = streams_blank();
    for (int step = 0; step < kStreamsSteps; ++step)
        run_step(outputs, step, step);
    return outputs;
}

// As in_order(), with step `late` and the one after it exchanged.
StreamsOutputs exchanged(int late) {
    StreamsOutputs outputs = streams_blank();
    for (int step = 0; step < kStreamsSteps; ++step) {
        const int real = step == late ? late + 1 : step == late + 1 ? late : step;
        run_step(outputs, real, real);
    }
    return outputs;
}

// "status: summary".
std::string text_of(const StreamsOutputs& outputs) {
    const Record record = streams_check(outputs, "GPU");
    return (record.status == Status::pass   ? "pass: "
            : record.status == Status::fail ? "fail: "
                                            : "other: ") +
           record.summary;
}

}  // namespace

TEST_CASE("con.streams: green when every kernel saw what the one before it made") {
    const StreamsOutputs good = in_order();
    CHECK(text_of(good) == "pass: 24 kernels on 4 streams in order (GPU)");
    // Only the row that nobody writes: no right value looks like one that was read too early.
    CHECK(std::count(good.rows.begin(), good.rows.end(), kStreamsBlank) == long(kN));
}

TEST_CASE("con.streams: red with each way that the order is lost") {
    struct Row {
        const char* what;
        StreamsOutputs outputs;
        const char* text;
    };
    const auto planted = [](const std::function<void(StreamsOutputs&)>& plant) {
        StreamsOutputs outputs = in_order();
        plant(outputs);
        return outputs;
    };
    // Each starts when it likes: all but the first read rows that are still blank.
    StreamsOutputs backwards = streams_blank();
    for (int step = kStreamsSteps - 1; step >= 0; --step)
        run_step(backwards, step, step);
    StreamsOutputs stale = streams_blank();
    for (int step = 0; step < kStreamsSteps; ++step)
        run_step(stale, step, std::max(0, step + 1 - kStreams));
    const Row rows[] = {
        {"nothing ran", streams_blank(), "fail: ran_flag: 0 of 48 blocks reported, code for 0"},
        {"reports, and writes nothing", planted([](auto& out) { out.rows = streams_blank().rows; }),
         "fail: order: 6144 values are wrong, the first after step 0 on stream 0"},
        {"no event is waited for", backwards,
         "fail: order: 5888 values are wrong, the first after step 1 on stream 1"},
        {"each stream goes on with its own value", stale,
         "fail: order: 5888 values are wrong, the first after step 1 on stream 1"},
        {"two kernels exchanged", exchanged(6),
         "fail: order: 4352 values are wrong, the first after step 7 on stream 3"},
        {"the last two exchanged", exchanged(kStreamsSteps - 2),
         "fail: order: 256 values are wrong, the first after step 23 on stream 3"},
        {"one kernel left out", planted([](auto& out) { out.flag.blocks -= kStreamsBlocks; }),
         "fail: ran_flag: 46 of 48 blocks reported, code for 900"},
        {"one kernel ran twice", planted([](auto& out) { out.flag.blocks += kStreamsBlocks; }),
         "fail: ran_flag: 50 of 48 blocks reported, code for 900"},
        {"the host read before the last one's end", planted([](auto& out) {
             std::fill_n(out.rows.begin() + kStreamsSteps * long(kN), kN, kStreamsBlank);
         }),
         "fail: order: 256 values are wrong, the first after step 23 on stream 3"},
        {"half of a row was not there yet",
         planted([](auto& out) { std::fill_n(out.rows.begin() + 9 * long(kN), kN / 2, kStreamsBlank); }),
         "fail: order: 128 values are wrong, the first after step 8 on stream 0"},
        {"one bit of one value", planted([](auto& out) { out.rows[5 * kN + 3] ^= 1U; }),
         "fail: order: 1 values are wrong, the first after step 4 on stream 0"},
        {"the input is overwritten", planted([](auto& out) { out.rows[0] += 1; }),
         "fail: nothing_beyond: 1 values were written before the first row or behind the last"},
        {"written behind the last row", planted([](auto& out) { out.rows.back() = 0; }),
         "fail: nothing_beyond: 1 values were written before the first row or behind the last"},
        {"nothing came back", planted([](auto& out) { out.rows.clear(); }), "fail: size: 0 values came back"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        CHECK(text_of(row.outputs) == row.text);
    }
}
