// Kernels for tensor cores as nvcc compiles them (ptx/*.cu say how), and faults planted in them.
#include <array>

#include "unit/kernels/matrix_fixture.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;
using matrix_fixture::Matrix;

namespace {

/// The elements of a matrix, row by row or column by column, as T.
template <typename T>
std::vector<T> elements(const Matrix& matrix, bool columns = false) {
    std::vector<T> all;
    for (int i = 0; i < matrix.rows * matrix.columns; ++i) {
        const double value = columns ? matrix.at(i % matrix.rows, i / matrix.rows)
                                     : matrix.values[static_cast<std::size_t>(i)];
        all.push_back(static_cast<T>(matrix_fixture::bits_of_value(matrix.type, value)));
    }
    return all;
}

Matrix zeros(int rows, int columns, const std::string& type) {
    return {rows, columns, type, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

/// Does `kernel` of wmma.ptx give A B + C? In and Sum: integers of the sizes of the elements.
template <typename In, typename Sum>
void check_tile(const std::string& kernel, int m, int n, int k, const std::string& type,
                const std::string& sum) {
    CAPTURE(kernel);
    PtxMachine machine(ptx_file("wmma.ptx"));
    matrix_fixture::Random random;
    const Matrix a = random.matrix(m, k, type, false);
    const Matrix b = random.matrix(k, n, type, false);
    const Matrix c = random.matrix(m, n, sum, false);
    Matrix expected = zeros(m, n, sum);
    const auto sums = matrix_fixture::reference(a, b, c);
    for (std::size_t i = 0; i < sums.size(); ++i)
        expected.values[i] = sums[i].first;
    const std::vector<std::uint64_t> arguments = {
        machine.upload(elements<In>(a)), machine.upload(elements<In>(b, true)),
        machine.upload(elements<Sum>(c)), machine.upload(elements<Sum>(zeros(m, n, sum)))};
    std::array<std::uint64_t, 4> parameters{};
    std::copy(arguments.begin(), arguments.end(), parameters.begin());
    REQUIRE(machine.launch(kernel, {}, {32, 1, 1}, parameters) == "");
    CHECK(machine.download<Sum>(arguments[3], expected.values.size()) == elements<Sum>(expected));
}

struct Gemm {
    std::string error;
    bool right = false;
};

/// gemm_pipeline of `ptx` with 100 rows of A.
Gemm run_pipeline(const std::string& ptx, unsigned schedules = 1) {
    constexpr int kM = 100;
    constexpr int kN = 128;
    constexpr int kK = 96;
    PtxMachine machine(ptx);
    machine.options.schedules = schedules;
    matrix_fixture::Random random;
    const Matrix a = random.matrix(kM, kK, "f16", false);
    const Matrix b = random.matrix(kK, kN, "f16", false);
    struct {
        std::uint64_t a, b, c;
        int m, n, k;
    } arguments{machine.upload(elements<std::uint16_t>(a)),
                machine.upload(elements<std::uint16_t>(b)),
                0,
                kM,
                kN,
                kK};
    arguments.c = machine.upload(std::vector<float>(kM * kN));
    Gemm result;
    result.error = machine.launch("gemm_pipeline", {kN / 64, 2, 1}, {128, 1, 1}, arguments);
    const std::vector<float> c = machine.download<float>(arguments.c, kM * kN);
    result.right = true;
    const auto expected = matrix_fixture::reference(a, b, zeros(kM, kN, "f32"));
    for (std::size_t i = 0; i < c.size(); ++i)
        result.right = result.right && static_cast<double>(c[i]) == expected[i].first;
    return result;
}

/// gemm_f16 of `ptx`, which doubles its sums.
Gemm run_wmma(const std::string& ptx) {
    constexpr int kSize = 128;
    PtxMachine machine(ptx);
    matrix_fixture::Random random;
    const Matrix a = random.matrix(kSize, kSize, "f16", false);
    const Matrix b = random.matrix(kSize, kSize, "f16", false);
    struct {
        std::uint64_t a, b, c;
        int n, k;
    } arguments{machine.upload(elements<std::uint16_t>(a)), machine.upload(elements<std::uint16_t>(b)), 0,
                kSize, kSize};
    arguments.c = machine.upload(std::vector<float>(kSize * kSize));
    Gemm result;
    result.error = machine.launch("gemm_f16", {2, 2, 1}, {128, 1, 1}, arguments);
    const std::vector<float> c = machine.download<float>(arguments.c, kSize * kSize);
    result.right = true;
    const auto expected = matrix_fixture::reference(a, b, zeros(kSize, kSize, "f32"));
    for (std::size_t i = 0; i < c.size(); ++i)
        result.right = result.right && static_cast<double>(c[i]) == 2 * expected[i].first;
    return result;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    REQUIRE(text.find(what) != std::string::npos);
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

}  // namespace

TEST_CASE("interpreter: nvcc's wmma kernels") {
    const Gemm gemm = run_wmma(ptx_file("wmma.ptx"));
    CHECK(gemm.error == "");
    CHECK(gemm.right);
    check_tile<std::uint16_t, std::uint32_t>("tile_bf16", 32, 8, 16, "bf16", "f32");
    check_tile<std::uint16_t, std::uint16_t>("tile_f16", 8, 32, 16, "f16", "f16");
    check_tile<std::uint32_t, std::uint32_t>("tile_tf32", 16, 16, 8, "tf32", "f32");
    check_tile<std::uint64_t, std::uint64_t>("tile_f64", 8, 8, 4, "f64", "f64");
    check_tile<std::uint8_t, std::uint32_t>("tile_s8", 16, 16, 16, "s8", "s32");
}

TEST_CASE("interpreter: nvcc's pipeline of cp.async, ldmatrix and mma") {
    const Gemm gemm = run_pipeline(ptx_file("pipeline.ptx"), 4);
    CHECK(gemm.error == "");
    CHECK(gemm.right);
}

TEST_CASE("interpreter: nvcc's conversions to fp8, and mma of them") {
    PtxMachine machine(ptx_file("fp8.ptx"));
    matrix_fixture::Random random;
    Matrix a = random.matrix(16, 32, "f32", false);
    Matrix b = random.matrix(32, 8, "f32", false);
    a.values[5] = 1000;    // too large for e4m3
    b.values[7] = 1.0625;  // between two values of e5m2
    const std::array<std::uint64_t, 4> arguments = {
        machine.upload(elements<std::uint32_t>(a)), machine.upload(elements<std::uint32_t>(b, true)),
        machine.upload(std::vector<float>(16 * 8)), machine.upload(std::vector<float>(16 * 32))};
    REQUIRE(machine.launch("tile_fp8", {}, {32, 1, 1}, arguments) == "");
    a.values[5] = 448;
    b.values[7] = 1;
    CHECK(machine.download<std::uint32_t>(arguments[3], 16 * 32) == elements<std::uint32_t>(a));
    Matrix c = zeros(16, 8, "f32");
    const auto sums = matrix_fixture::reference(a, b, c);
    for (std::size_t i = 0; i < sums.size(); ++i)
        c.values[i] = sums[i].first;
    CHECK(machine.download<std::uint32_t>(arguments[2], 16 * 8) == elements<std::uint32_t>(c));
}

TEST_CASE("interpreter: planted faults of tensor-core kernels are found") {
    const std::string pipeline = ptx_file("pipeline.ptx");
    SUBCASE("nobody waits for the last copies") {
        const Gemm gemm = run_pipeline(replaced(pipeline, "cp.async.wait_group 0;", ""));
        CHECK(gemm.error.find("cp.async not waited for (PTX line ") != std::string::npos);
    }
    SUBCASE("one group too many may stay in flight") {
        const Gemm gemm =
            run_pipeline(replaced(pipeline, "cp.async.wait_group 1;", "cp.async.wait_group 2;"));
        CHECK(gemm.error.find("cp.async not waited for (PTX line ") != std::string::npos);
    }
    SUBCASE("copies that are in no group") {
        const Gemm gemm = run_pipeline(replaced(pipeline, "cp.async.commit_group;", ""));
        CHECK(gemm.error.find("cp.async not waited for (PTX line ") != std::string::npos);
    }
    SUBCASE("no barriers") {
        const Gemm gemm = run_pipeline(replaced(pipeline, "bar.sync \t0;", ""));
        CHECK(gemm.error != "");
    }
    SUBCASE("B is not transposed") {
        const Gemm gemm = run_pipeline(replaced(pipeline, ".x2.trans.", ".x2."));
        CHECK(gemm.error == "");
        CHECK(!gemm.right);
    }
    SUBCASE("A is of another type") {
        const Gemm gemm = run_pipeline(replaced(pipeline, "f32.f16.f16.f32", "f32.bf16.bf16.f32"));
        CHECK(gemm.error == "");
        CHECK(!gemm.right);
    }
    SUBCASE("rows behind the end of A") {
        const Gemm gemm = run_pipeline(replaced(pipeline, ", 16, 0;", ", 16, 17;"));
        CHECK(gemm.error.find("a source of 17 bytes for a copy of 16") != std::string::npos);
    }
    SUBCASE("wmma by columns what is by rows") {
        const Gemm gemm =
            run_wmma(replaced(ptx_file("wmma.ptx"), "load.b.sync.aligned.row.m16n16k16.shared.f16",
                              "load.b.sync.aligned.col.m16n16k16.shared.f16"));
        CHECK(gemm.error == "");
        CHECK(!gemm.right);
    }
    SUBCASE("wmma without barriers") {
        const Gemm gemm = run_wmma(replaced(ptx_file("wmma.ptx"), "bar.sync \t0;", ""));
        CHECK(gemm.error != "");
    }
}
