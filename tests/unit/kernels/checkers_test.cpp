// Every checker must turn red on every planted defect, and stay green on the kernel bodies as they are.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "kernels/compute/check.hpp"
#include "kernels/compute/reduce.hpp"
#include "kernels/compute/reduce_body.hpp"
#include "kernels/compute/sgemm.hpp"
#include "kernels/compute/sgemm_body.hpp"
#include "kernels/compute/vadd.hpp"
#include "kernels/exec/cpu_block.hpp"

using namespace cudamatrix::suite;

namespace {

float to_bf16(float value) {
    std::uint32_t bits = bits_of(value);
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
    return float_of(bits);
}

std::vector<float> to_bf16(std::vector<float> values) {
    for (float& value : values)
        value = to_bf16(value);
    return values;
}

float flipped(float value, int bit) {
    return float_of(bits_of(value) ^ (1U << bit));
}

bool red(const Record& record) {
    return record.status == Status::fail;
}
bool green(const Record& record) {
    return record.status == Status::pass;
}

const SgemmInputs& small_sgemm() {
    static const SgemmInputs kInputs = sgemm_inputs(150, 140, 256);
    return kInputs;
}

}  // namespace

TEST_CASE("cmp.vadd: green as it is, red with each planted defect") {
    const VaddInputs in = vadd_inputs();
    const VaddOutputs good = vadd_on_cpu(in);
    const std::size_t n = in.a.size();
    CHECK(green(vadd_check(in, good, "CPU")));

    SUBCASE("no-op kernel") {
        CHECK(red(vadd_check(in, vadd_blank(in), "CPU")));
    }
    SUBCASE("kernel whose work was cut away: it reports, but writes nothing") {
        VaddOutputs out = vadd_blank(in);
        out.flag = good.flag;
        CHECK(red(vadd_check(in, out, "CPU")));
    }
    SUBCASE("right numbers from elsewhere: nothing reports") {
        VaddOutputs out = good;
        out.flag = {};
        CHECK(vadd_check(in, out, "CPU").summary.rfind("ran_flag", 0) == 0);
    }
    SUBCASE("one block did not come to its end") {
        VaddOutputs out = good;
        out.flag.blocks -= 1;
        CHECK(red(vadd_check(in, out, "CPU")));
    }
    SUBCASE("any one bit of any of some elements") {
        for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
            for (int bit = 0; bit < 32; ++bit) {
                VaddOutputs out = good;
                out.c[i] = flipped(out.c[i], bit);
                CHECK_MESSAGE(red(vadd_check(in, out, "CPU")), bit);
            }
        }
    }
    SUBCASE("stale buffer: the last block's part is of an earlier run") {
        VaddInputs earlier = in;
        for (float& x : earlier.a)
            x += 1.0F;
        const VaddOutputs old = vadd_on_cpu(earlier);
        VaddOutputs out = good;
        for (std::size_t i = n - 256; i < n; ++i)
            out.c[i] = old.c[i];
        CHECK(red(vadd_check(in, out, "CPU")));
    }
    SUBCASE("off by one at the end") {
        VaddOutputs out = good;
        out.c[n - 1] = float_of(kBlankBits);
        std::memcpy(&out.c[n - 1], &kBlankBits, sizeof(float));
        CHECK(red(vadd_check(in, out, "CPU")));
    }
    SUBCASE("writes beyond the end") {
        VaddOutputs out = good;
        out.c[n] = 0;
        CHECK(red(vadd_check(in, out, "CPU")));
    }
    SUBCASE("inputs rounded to bf16") {
        CHECK(red(vadd_check(in, vadd_on_cpu({to_bf16(in.a), to_bf16(in.b)}), "CPU")));
    }
    SUBCASE("wrong operand") {
        CHECK(red(vadd_check(in, vadd_on_cpu({in.a, in.a}), "CPU")));
    }
    SUBCASE("shifted by one element") {
        VaddOutputs out = good;
        std::memmove(out.c.data() + 1, good.c.data(), (n - 1) * sizeof(float));
        CHECK(red(vadd_check(in, out, "CPU")));
    }
    SUBCASE("output cut short") {
        VaddOutputs out = good;
        out.c.resize(n / 2);
        CHECK(red(vadd_check(in, out, "CPU")));
    }
}

TEST_CASE("cmp.reduce: green as it is, red with each planted defect") {
    const ReduceInputs in = reduce_inputs();
    const ReduceOutputs good = reduce_on_cpu(in);
    CHECK(green(reduce_check(in, good, "CPU")));

    SUBCASE("no-op kernel") {
        CHECK(red(reduce_check(in, reduce_blank(), "CPU")));
    }
    SUBCASE("reports but adds nothing") {
        ReduceOutputs out = reduce_blank();
        out.flag = good.flag;
        CHECK(red(reduce_check(in, out, "CPU")));
    }
    SUBCASE("any one bit of the integer total") {
        for (int bit = 0; bit < 64; ++bit) {
            ReduceOutputs out = good;
            out.integer_total ^= 1ULL << bit;
            CHECK_MESSAGE(red(reduce_check(in, out, "CPU")), bit);
        }
    }
    SUBCASE("a bit of a block's sum, down to the tolerance") {
        for (int bit = 5; bit < 32; ++bit) {
            ReduceOutputs out = good;
            out.block_sums[100] = flipped(out.block_sums[100], bit);
            CHECK_MESSAGE(red(reduce_check(in, out, "CPU")), bit);
        }
    }
    SUBCASE("one block dropped from the totals") {
        ReduceOutputs out = good;
        out.total -= static_cast<double>(out.block_sums[7]);
        CHECK(red(reduce_check(in, out, "CPU")));
    }
    SUBCASE("one block added twice") {
        ReduceOutputs out = good;
        out.total += static_cast<double>(out.block_sums[7]);
        CHECK(red(reduce_check(in, out, "CPU")));
    }
    SUBCASE("stale totals: not set to zero before the run") {
        ReduceOutputs out = good;
        out.total *= 2;
        out.integer_total *= 2;
        CHECK(red(reduce_check(in, out, "CPU")));
    }
    SUBCASE("two blocks' sums exchanged") {
        ReduceOutputs out = good;
        std::swap(out.block_sums[3], out.block_sums[4]);
        CHECK(red(reduce_check(in, out, "CPU")));
    }
    SUBCASE("inputs rounded to bf16") {
        ReduceInputs rounded = in;
        rounded.values = to_bf16(in.values);
        CHECK(red(reduce_check(in, reduce_on_cpu(rounded), "CPU")));
    }
    SUBCASE("the last element left out") {
        ReduceInputs shorter = in;
        shorter.values.pop_back();
        shorter.integers.pop_back();
        CHECK(red(reduce_check(in, reduce_on_cpu(shorter), "CPU")));
    }
    SUBCASE("a shuffle without its upper half") {
        // What a mask of 0xffff does: the sums of lanes 16 to 31 never arrive.
        ReduceOutputs out = good;
        ReduceInputs half = in;
        for (std::size_t i = 0; i < half.integers.size(); ++i) {
            if (i % 32 >= 16) half.integers[i] = 0;
        }
        out.integer_total = reduce_on_cpu(half).integer_total;
        CHECK(red(reduce_check(in, out, "CPU")));
    }
    SUBCASE("not a number") {
        ReduceOutputs out = good;
        out.total = std::nan("");
        CHECK(red(reduce_check(in, out, "CPU")));
        out = good;
        out.block_sums[9] = std::nanf("");
        CHECK(red(reduce_check(in, out, "CPU")));
    }
}

TEST_CASE("cmp.sgemm: green as it is, red with each planted defect") {
    const SgemmInputs& in = small_sgemm();
    const SgemmOutputs good = sgemm_on_cpu(in);
    const auto n = static_cast<std::size_t>(in.n);
    CHECK(green(sgemm_check(in, good, "CPU")));

    SUBCASE("no-op kernel") {
        CHECK(red(sgemm_check(in, sgemm_blank(in), "CPU")));
    }
    SUBCASE("reports but writes zeros") {
        SgemmOutputs out = good;
        std::fill(out.c.begin(), out.c.end() - kGuard, 0.0F);
        CHECK(red(sgemm_check(in, out, "CPU")));
    }
    SUBCASE("a dropped block of K") {
        SgemmInputs dropped = in;
        for (int i = 0; i < in.m; ++i) {
            for (int d = 32; d < 32 + kSgemmDepth; ++d)
                dropped.a[static_cast<std::size_t>(i * in.k + d)] = 0;
        }
        CHECK(red(sgemm_check(in, sgemm_on_cpu(dropped), "CPU")));
    }
    SUBCASE("the last column of A left out") {
        SgemmInputs dropped = in;
        for (int i = 0; i < in.m; ++i)
            dropped.a[static_cast<std::size_t>(i * in.k + in.k - 1)] = 0;
        CHECK(red(sgemm_check(in, sgemm_on_cpu(dropped), "CPU")));
    }
    SUBCASE("one bit of one element, down to the tolerance") {
        for (const std::size_t i : {std::size_t{0}, 77 * n + 5, static_cast<std::size_t>(in.m) * n - 1}) {
            // The lowest bit whose value exceeds the bound of that element, and all above it.
            for (int bit = 12; bit < 32; ++bit) {
                SgemmOutputs out = good;
                out.c[i] = flipped(out.c[i], bit);
                const double change =
                    std::fabs(static_cast<double>(out.c[i]) - static_cast<double>(good.c[i]));
                if (change < 1e-3)
                    continue;  // twice the bound for these sizes; smaller elements have smaller bits
                CHECK_MESSAGE(red(sgemm_check(in, out, "CPU")), bit);
            }
        }
    }
    SUBCASE("a transposed 8 x 8 tile") {
        SgemmOutputs out = good;
        for (std::size_t i = 0; i < 8; ++i) {
            for (std::size_t j = 0; j < 8; ++j)
                out.c[i * n + j] = good.c[j * n + i];
        }
        CHECK(red(sgemm_check(in, out, "CPU")));
    }
    SUBCASE("two rows exchanged") {
        SgemmOutputs out = good;
        std::swap_ranges(out.c.begin(), out.c.begin() + in.n, out.c.begin() + in.n);
        CHECK(red(sgemm_check(in, out, "CPU")));
    }
    SUBCASE("a stale tile of an earlier product") {
        SgemmInputs earlier = in;
        for (float& x : earlier.b)
            x = -x;
        const SgemmOutputs old = sgemm_on_cpu(earlier);
        SgemmOutputs out = good;
        for (std::size_t j = 128; j < n; ++j)
            out.c[149 * n + j] = old.c[149 * n + j];
        CHECK(red(sgemm_check(in, out, "CPU")));
    }
    SUBCASE("inputs rounded to bf16, one of them or both") {
        SgemmInputs rounded = in;
        rounded.a = to_bf16(in.a);
        CHECK(red(sgemm_check(in, sgemm_on_cpu(rounded), "CPU")));
        rounded.b = to_bf16(in.b);
        CHECK(red(sgemm_check(in, sgemm_on_cpu(rounded), "CPU")));
    }
    SUBCASE("inputs cut to the 10 bits of TF32") {
        SgemmInputs cut = in;
        for (float& x : cut.a)
            x = float_of(bits_of(x) & 0xffffe000);
        CHECK(red(sgemm_check(in, sgemm_on_cpu(cut), "CPU")));
    }
    SUBCASE("a missing barrier: a tile is multiplied before it is loaded") {
        // The first slice's product uses what the shared memory held before, here zeros.
        SgemmInputs late = in;
        for (int i = 0; i < in.m; ++i) {
            for (int d = 0; d < kSgemmDepth; ++d)
                late.a[static_cast<std::size_t>(i * in.k + d)] = 0;
        }
        CHECK(red(sgemm_check(in, sgemm_on_cpu(late), "CPU")));
    }
    SUBCASE("not a number in one element") {
        SgemmOutputs out = good;
        out.c[5] = std::nanf("");
        CHECK(red(sgemm_check(in, out, "CPU")));
    }
    SUBCASE("writes beyond the end, or not enough") {
        SgemmOutputs out = good;
        out.c[out.c.size() - kGuard] = 1;
        CHECK(red(sgemm_check(in, out, "CPU")));
    }
    SUBCASE("blocks that did not report") {
        SgemmOutputs out = good;
        out.flag.blocks = 3;
        CHECK(red(sgemm_check(in, out, "CPU")));
        out.flag = {4, 0};
        CHECK(red(sgemm_check(in, out, "CPU")));
    }
}

TEST_CASE("the parts that images run pass") {
    CHECK(green(vadd_cpu_part({})));
    CHECK(green(reduce_cpu_part({})));
    CHECK(green(sgemm_cpu_part({})));
}
