// What the list of tests says of each is whole, and is what their sources do.
#include "kernels/registry.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "kernels/faults.hpp"

using namespace cudamatrix::suite;

namespace {

const std::filesystem::path kKernels = SUITE_KERNELS_DIR;

std::string content(const std::filesystem::path& path) {
    std::ifstream in(path);
    REQUIRE_MESSAGE(in.good(), path.string());
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::set<std::string> found(const std::string& text, const char* pattern) {
    const std::regex wanted(pattern);
    std::set<std::string> all;
    for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
        all.insert((*at)[1]);
    return all;
}

// The fault codes that a source names as texts: "F6".
std::set<std::string> codes_in(const std::filesystem::path& path) {
    return found(content(path), "\"(F[0-9]+)\"");
}

bool is_sentence(std::string_view text) {
    return text.size() > 20 && text.back() == '.' && text.find("  ") == std::string_view::npos &&
           text.find_first_not_of("\t\n ") == 0;
}

}  // namespace

TEST_CASE("registry: every test says what it proves and what it compares with") {
    std::set<std::string_view> said;
    for (const Test& test : all_tests()) {
        CHECK_MESSAGE(is_sentence(test.proves), test.id);
        CHECK_MESSAGE(is_sentence(test.reference), test.id);
        CHECK_MESSAGE(said.insert(test.proves).second, test.id);
        CHECK_MESSAGE(said.insert(test.reference).second, test.id);
    }
}

TEST_CASE("registry: every fault that a test names is in the catalogue") {
    for (const Test& test : all_tests()) {
        const auto codes = test.fault_codes();
        CHECK_MESSAGE(!codes.empty(), test.id);
        CHECK_MESSAGE(std::set(codes.begin(), codes.end()).size() == codes.size(), test.id);
        for (const auto code : codes)
            CHECK_MESSAGE(find_fault(code) != nullptr, test.id << " names " << code);
    }
    for (const auto* code : {"", "F", "F0", "F26", "f6", "F6 ", "F6 F7"})
        CHECK_MESSAGE(find_fault(code) == nullptr, code);
}

TEST_CASE("registry: the catalogue counts from F1 and has a sentence for each") {
    std::set<std::string_view> texts;
    int number = 0;
    for (const Fault& fault : kFaults) {
        const auto names = [&](const Test& test) {
            const auto codes = test.fault_codes();
            return std::find(codes.begin(), codes.end(), fault.code) != codes.end();
        };
        CHECK_MESSAGE(std::any_of(all_tests().begin(), all_tests().end(), names), fault.code);
        CHECK(fault.code == "F" + std::to_string(++number));
        CHECK_MESSAGE(is_sentence(fault.text), fault.code);
        CHECK_MESSAGE(texts.insert(fault.text).second, fault.code);
    }
    CHECK(number == 25);
}

TEST_CASE("registry: codes of a text are split at blanks") {
    Test test = all_tests().front();
    const std::map<std::string_view, std::vector<std::string_view>> rows = {
        {"", {}}, {" ", {}}, {"F1", {"F1"}}, {"F1 F12", {"F1", "F12"}}, {" F1  F2 ", {"F1", "F2"}}};
    for (const auto& [text, codes] : rows) {
        test.faults = text;
        CHECK(test.fault_codes() == codes);
    }
}

TEST_CASE("registry: tests name the faults that their sources name, and no others") {
    // What a test's own files share: which of them are in it depends on who runs it.
    const auto compute = codes_in(kKernels / "exec" / "gpu.cuh");
    const auto driver = codes_in(kKernels / "host" / "driver_verdict.cpp");
    const auto health = codes_in(kKernels / "host" / "health_verdict.cpp");
    const auto build = codes_in(kKernels / "build" / "nvcc_text.hpp");
    const auto python = codes_in(kKernels / "python" / "suite_record.py");
    auto compare = codes_in(kKernels / "python" / "torch_compare.py");
    compare.merge(codes_in(kKernels / "python" / "library_checks.py"));
    compare.merge(codes_in(kKernels / "python" / "torch_build.py"));
    CHECK(compute.size() > 3);
    CHECK(driver.size() > 3);
    for (const Test& test : all_tests()) {
        std::set<std::string> own, shared;
        const std::string source(test.source);
        if (test.runs_by == RunsBy::cuda) {
            own = codes_in(kKernels / (source + ".cpp"));
            own.insert(compute.begin(), compute.end());
        } else if (test.runs_by == RunsBy::python) {
            own = codes_in(kKernels / "python" / source);
            own.insert("F11");  // torch cannot be imported
            shared = python;
            shared.insert(compare.begin(), compare.end());
        } else {
            own = codes_in(kKernels / "host" / (source + ".cpp"));
            if (test.id == "dev.driver") own.insert(driver.begin(), driver.end());
            if (source == "dev_health" || source == "stress_health") own.insert(health.begin(), health.end());
            if (test.id == "static.compile") own.insert(build.begin(), build.end());
        }
        const auto codes = test.fault_codes();
        const std::set<std::string> named(codes.begin(), codes.end());
        for (const auto& code : own)
            CHECK_MESSAGE(named.count(code) == 1, test.id << " can name " << code);
        for (const auto& code : named)
            CHECK_MESSAGE(own.count(code) + shared.count(code) != 0, test.id << " never names " << code);
    }
}

TEST_CASE("registry: sizes and tolerances are those of the sources") {
    struct Row {
        std::string id;
        std::string file;
        std::string code;   // as the source has it
        std::string words;  // as the list says it
    };
    const Row rows[] = {
        {"env.shm", "host/env_shm.cpp", "expect_torch.empty() ? 16 : 64", "16 MiB, or 64 MiB"},
        {"static.compile", "build/cuda_programs.hpp", "\"cross-execution-space-call\"",
         "calls across execution spaces are errors"},
        {"static.compile", "host/static_compile.cpp", "major_minor(nvcc) == major_minor(context.expect_cuda)",
         "by major and minor"},
        {"dev.driver", "host/driver_verdict.cpp", "facts.cuda / 1000 < std::atoi(needed.c_str())",
         "CUDA major must be at least"},
        {"dev.query", "host/dev_query.cpp", "gpu.cc == context.compute", "of exactly the compute capability"},
        {"cmp.vadd", "compute/vadd.cpp", "kLength = 1000003", "1000003 sums"},
        {"mem.pattern", "memory/pattern.cpp", "kQuickBytes = std::uint64_t{1} << 30", "1 GiB at level quick"},
        {"mem.pattern", "memory/pattern.cpp", "kMostBytes = std::uint64_t{16} << 30", "16 GiB above it"},
        {"mem.pattern", "memory/pattern.cpp", "third = free_bytes / 3", "a third of the free memory"},
        {"mem.pattern", "memory/pattern.hpp", "kPatternSmall = 8219", "8219 words on the CPU"},
        {"mem.pattern", "memory/pattern_body.hpp", "kWalkingPasses = 64", "A walking bit in 32 positions"},
        {"mem.pattern", "memory/pattern.hpp", "kPatternEnd = 4096", "The last 4096 words"},
        {"mem.copy", "memory/copy.hpp", "kCopyLarge = (std::size_t{128} << 20) + 13", "128 MiB and 13 bytes"},
        {"mem.copy", "memory/copy.hpp", "kCopySmall = (std::size_t{4} << 20) + 13",
         "4 MiB and 13 on the CPU"},
        {"mem.triad", "memory/triad.hpp", "kTriadLarge = (std::size_t{8} << 20) + 3", "8388611 elements"},
        {"mem.triad", "memory/triad.hpp", "kTriadSmall = (std::size_t{256} << 10) + 3", "262147 on the CPU"},
        {"mem.pcie", "memory/pcie.hpp", "kPcieLarge = (std::size_t{64} << 20) + 3", "256 MiB and 12 bytes"},
        {"mem.pcie", "memory/pcie.hpp", "kPcieSmall = (std::size_t{256} << 10) + 3", "1 MiB and 12"},
        {"mem.pcie", "memory/pcie.hpp", "kPciePageableShare = 8", "an eighth of it"},
        {"mem.managed", "memory/managed.hpp", "kManagedLength = (std::size_t{256} << 10) + 3",
         "262147 numbers"},
        {"mem.managed", "memory/managed.hpp", "kManagedFaultRounds = 2", "each of 2 rounds"},
        {"mem.managed", "memory/managed.hpp", "kManagedPrefetchRounds = 2", "2 with cudaMemPrefetchAsync"},
        {"mem.async", "memory/async.hpp", "kAsyncRounds = 8", "8 rounds"},
        {"mem.async", "memory/async.hpp", "kAsyncBuffers = 4", "4 buffers"},
        {"mem.async", "memory/async.hpp", "kAsyncLength = 16411", "16411 words"},
        {"mem.async", "memory/async.cu", "driver >= 11030", "From CUDA 11.3 on"},
        {"cmp.reduce", "compute/reduce.cpp", "kLength = 1048583", "1048583 numbers"},
        {"cmp.reduce", "compute/reduce.cpp", "kLimit = 1e-6", "within 1e-6 (relative)"},
        {"cmp.sgemm", "compute/sgemm.cpp", "sgemm_inputs(391, 389, 1021)", "391 x 1021 times 1021 x 389"},
        {"cmp.sgemm", "compute/sgemm.cpp", "sgemm_inputs(260, 132, 68)", "260 x 68 times 68 x 132"},
        {"cmp.sgemm", "compute/sgemm_body.hpp", "kFour = 4", "vectors of four"},
        {"cmp.sgemm", "compute/float_product.hpp", "2e-6 * std::sqrt(in.k / 1024.0)",
         "2e-6 * sqrt(K / 1024)"},
        {"cmp.sgemm", "compute/float_product.hpp", "(8 * eps * magnitude[j])", "8 * eps * sum |a||b|"},
        {"fault.illegal", "fault/illegal.cu", "kNobodys = 0x1000", "address 0x1000"},
        {"fault.illegal", "fault/illegal.hpp", "kIllegalAddress = 700", "must give 700"},
        {"fault.illegal", "fault/illegal.hpp", "kIllegalLater = 4", "4 later calls"},
        {"fault.illegal", "fault/illegal.hpp", "kIllegalSums = 4099", "4099 float32 sums"},
        {"fault.assert", "fault/assertion.hpp", "kAssertCode = 710", "must give 710"},
        {"fault.assert", "fault/assertion.hpp", "kAssertThreads = 64", "Each of 64 threads"},
        {"tc.f16", "tensor/product.hpp", "int m = 96;", "96 x 544 times"},
        {"tc.f16", "tensor/product.hpp", "int n = 64;", "544 x 64"},
        {"tc.f16", "tensor/product.hpp", "int k = 544;", "x 544 times 544 x"},
        {"tc.f16", "tensor/product.hpp", "(8 * eps * reference[i].magnitude)", "8 * eps * sum |a||b|"},
        {"tc.f16", "tensor/f16.cpp", "tensor_check(in, out, 2e-5,", "e_F <= 2e-5"},
        {"tc.s8", "tensor/product.hpp", "\"int32_exact\", wrong == 0", "int32 sum must be exact"},
        {"tc.bf16", "tensor/bf16.cpp", "tensor_check(in, out, 2e-5,", "e_F <= 2e-5"},
        {"tc.tf32", "tensor/tf32.cpp", "tensor_check(in, out, 2e-5,", "e_F <= 2e-5"},
        {"tc.tf32", "tensor/tf32.hpp", "kK = 8;", "wmma 16x16x8"},
        {"tc.f64", "tensor/f64.cpp", "1e-14 * std::sqrt(in.shape.k)", "1e-14 * sqrt(K)"},
        {"tc.f64", "tensor/f64.hpp", "kK = 4;", "wmma 8x8x4"},
        {"tc.fp8", "tensor/fp8.cpp", "kLimit = 5e-3", "e_F <= 5e-3"},
        {"tc.fp8", "tensor/fp8.hpp", "kFp8SumEps = 0x1p-13", "eps = 2^-13"},
        {"tc.fp8", "tensor/fp8.hpp", "kK = 32;", "mma m16n8k32"},
        {"tc.wgmma", "tensor/wgmma.hpp", "kWgmmaShape{264, 328, 168}", "264 x 168 times 168 x 328"},
        {"tc.wgmma", "tensor/wgmma.hpp", "kN = 256;", "wgmma m64n256k16"},
        {"tc.wgmma", "tensor/hopper.cuh", "m64n256k16.f32.bf16.bf16", "wgmma m64n256k16"},
        {"tc.wgmma", "tensor/wgmma.hpp", "kWgmmaStages = 4", "a ring of 4 stages"},
        {"tc.wgmma", "tensor/wgmma.hpp", "kWgmmaConsumers = 2", "2 groups of each block"},
        {"tc.wgmma", "tensor/wgmma.hpp", "kWgmmaClusters = 2", "At most 2 clusters"},
        {"tc.wgmma", "tensor/wgmma.hpp", "kWgmmaBlocks = 2", "clusters of 2 blocks"},
        {"tc.wgmma", "tensor/wgmma.cpp", "tensor_check(in, out, 2e-5,", "e_F <= 2e-5"},
        {"tc.tcgen05", "tensor/tcgen05.hpp", "kTcgen05Shape{200, 136, 552}", "200 x 552 times 552 x 136"},
        {"tc.tcgen05", "tensor/tcgen05.hpp", "kM = 128;", "tcgen05.mma 128x128x16"},
        {"tc.tcgen05", "tensor/tcgen05.hpp", "kN = 128;", "tcgen05.mma 128x128x16"},
        {"tc.tcgen05", "tensor/tcgen05.hpp", "kTcgen05Stages = 4", "from 4 stages"},
        {"tc.tcgen05", "tensor/tcgen05.cpp", "tensor_check(in, out, 2e-5,", "e_F <= 2e-5"},
        {"tc.nvfp4", "tensor/nvfp4.hpp", "shape = {96, 64, 576}", "96 x 576 times 576 x 64"},
        {"tc.nvfp4", "tensor/nvfp4.hpp", "kK = 64;", "mma m16n8k64"},
        {"tc.nvfp4", "tensor/nvfp4.hpp", "kNvfp4Block = 16;", "a scale in UE4M3 for each 16"},
        {"tc.nvfp4", "tensor/nvfp4.cu", "switch (k0 / Format::kK % 4)", "each of four steps"},
        {"tc.nvfp4", "tensor/nvfp4.cpp", "tensor_check(numbers, out, 1e-3,", "e_F <= 1e-3"},
        {"tc.nvfp4", "tensor/product.hpp", "numeric_limits<typename Format::Sum>::epsilon()", "eps = 2^-23"},
        {"con.streams", "concurrency/streams.hpp", "kStreams = 4", "on 4 streams"},
        {"con.streams", "concurrency/streams.hpp", "kStreamsSteps = 24", "24 kernels"},
        {"con.streams", "concurrency/streams.hpp", "kStreamsThreads} * kStreamsBlocks", "256 numbers"},
        {"con.streams", "concurrency/streams.hpp", "kStreamsThreads = 128", "256 numbers"},
        {"con.streams", "concurrency/streams.hpp", "kStreamsBlocks = 2", "256 numbers"},
        {"con.graph", "concurrency/graph.hpp", "kGraphNodes = 5", "5 nodes"},
        {"con.graph", "concurrency/graph.hpp", "kGraphKernels = 3", "3 kernels"},
        {"con.graph", "concurrency/graph.hpp", "kGraphThreads} * kGraphBlocks", "256 numbers"},
        {"con.graph", "concurrency/graph.hpp", "kGraphThreads = 128", "256 numbers"},
        {"con.graph", "concurrency/graph.hpp", "kGraphBlocks = 2", "256 numbers"},
        {"con.graph", "concurrency/graph.hpp", "kGraphRounds = 100", "100 launches"},
        {"con.coop", "concurrency/coop.hpp", "kCoopRounds = 12", "12 rounds"},
        {"con.coop", "concurrency/coop.hpp", "kCoopThreads = 128", "128 threads"},
        {"con.coop", "concurrency/coop.hpp", "kTooLarge = 720", "must give 720"},
        {"con.cluster", "concurrency/cluster.hpp", "kClusterBlocks = 4", "4 blocks"},
        {"con.cluster", "concurrency/cluster.hpp", "kClusters = 3", "3 clusters"},
        {"con.cluster", "concurrency/cluster.hpp", "kClusterThreads = 128", "128 threads"},
        {"mem.fit", "memory/fit.hpp", "kFitPieces = 64", "1/64"},
        {"mem.fit", "memory/fit.hpp", "kFitRefused = 2", "until error 2"},
        {"mem.fit", "memory/fit.hpp", "kFitShare = 0.9", "90 % of it"},
        {"mem.fit", "memory/fit.hpp", "kFitSlack = std::size_t{64} << 20", "at most 64 MiB"},
        {"stress.oom", "stress/oom.hpp", "kOutOfMemory = 2", "give error 2"},
        {"stress.oom", "stress/oom.cu", "2 * facts.total", "twice the memory"},
        {"stress.oom", "stress/oom.hpp", "kOomMostInterpreted = std::size_t{1} << 30", "at most 1 GiB"},
        {"stress.oom", "stress/oom.hpp", "kOomLength = 65537", "65537 float32 sums"},
        {"stress.leak", "stress/leak.hpp", "kLeakCycles = 200", "200 cycles"},
        {"stress.leak", "stress/leak.hpp", "kLeakWarmUp = 20", "after 20 to warm up"},
        {"stress.leak", "stress/leak.hpp", "kLeakBytes = std::size_t{1} << 20", "1 MiB of the GPU"},
        {"stress.leak", "stress/leak.hpp", "kLeakPinnedBytes = std::size_t{64} << 10",
         "64 KiB of pinned memory"},
        {"stress.leak", "stress/leak.hpp", "std::size_t{kLeakThreads} * kLeakBlocks", "512 words"},
        {"stress.leak", "stress/leak.hpp", "kLeakDeviceLimit = 2", "may lose 2 MiB"},
        {"stress.leak", "stress/leak.hpp", "kLeakHostLimit = 8", "grow by 8 MiB"},
        {"stress.sustained", "stress/sustained.hpp", "int m = 1021;", "1021 x 1031 times"},
        {"stress.sustained", "stress/sustained.hpp", "int k = 1031;", "1021 x 1031 times 1031 x"},
        {"stress.sustained", "stress/sustained.hpp", "int n = 1019;", "1031 x 1019"},
        {"stress.sustained", "stress/sustained.hpp", "int copies = 16;", "16 products"},
        {"stress.sustained", "stress/sustained.hpp", "long rounds = 3;", "three rounds"},
        {"stress.sustained", "stress/sustained.cpp", "plan.copies = 2", "of 2 small ones"},
        {"stress.sustained", "stress/sustained.cpp", "level == \"full\" ? 60 : 30",
         "for 30 s at level standard, 60 s at full"},
        {"cmp.fma", "compute/fma.cpp", "kItems = 32771", "131084 chains"},  // four of each item
        {"cmp.fma", "compute/fma_body.hpp", "kFmaChains = 4", "131084 chains"},
        {"cmp.fma", "compute/fma_body.hpp", "kFmaRounds = 32;  ///< of two steps each", "of 64 steps"},
        {"cmp.math", "compute/math.hpp", "kMathLength = 4099", "4099 values of each function"},
        {"cmp.math", "compute/math.hpp", "kMathAllowance = 1", "at most 1 ULP farther"},
        {"cmp.math", "compute/math_functions.hpp", "{\"pow\", 4, 2,", "0 to 4 ULPs"},
        {"cmp.math", "compute/math.cpp", "\"_correctly_rounded\", not_rounded == 0",
         "division correctly rounded"},
        {"jit.ptx", "host/driver_kernel.hpp", "kAddLength = 4099", "4099 float32 sums"},
        {"jit.ptx", "host/jit_ptx.cpp", "\"CUDA_FORCE_PTX_JIT\", \"1\"", "CUDA_FORCE_PTX_JIT=1"},
        {"jit.sass_only", "host/driver_kernel.hpp", "kAddLength = 4099", "4099 float32 sums"},
        {"jit.sass_only", "host/jit_sass_only.cpp", "\"CUDA_DISABLE_PTX_JIT\", \"1\"",
         "CUDA_DISABLE_PTX_JIT=1"},
        {"jit.nvrtc", "host/driver_kernel.hpp", "kAddLength = 4099", "4099 pairs of float32 numbers"},
        {"jit.nvrtc", "host/jit_code.hpp", "entry.arch != arch", "exactly the compute capability"},
        {"jit.jitlink", "host/driver_kernel.hpp", "kAddLength = 4099", "adds 4099 pairs"},
        {"jit.jitlink", "host/jit_jitlink.cpp", "kPtxVersion = \".version 7.0\"", "of PTX 7.0"},
        {"jit.jitlink", "host/jit_jitlink.cpp", "kPtxOfNobody = \".version 99.9\"", "refuse PTX 99.9"},
        {"lib.cublas", "python/library_checks.py", "ROWS, LENGTH, COLUMNS = 256, 512, 136",
         "256 x 512 and 512 x 136"},
        {"lib.cublas", "python/library_checks.py", "SAMPLED = 6", "6 rows against exact sums"},
        {"lib.cublas", "python/library_checks.py", "LIMIT_DOUBLE = 1e-14", "e_F <= 1e-14 * sqrt(K)"},
        {"lib.cublas", "python/library_checks.py", "LIMIT_DOUBLE * math.sqrt(LENGTH)", "1e-14 * sqrt(K)"},
        {"lib.cudnn", "python/library_checks.py",
         "HEIGHT, WIDTH, FILTERS, TAPS, STRIDE = 3, 6, 19, 17, 10, 3, 2",
         "3 x 6 x 19 x 17 float32 numbers with 10 filters 3 x 3"},
        {"lib.cudnn", "python/library_checks.py", "LIMIT_CONVOLUTION = 1e-5", "e_F <= 1e-5"},
        {"lib.cudnn", "python/library_checks.py", "want, sizes, LIMIT_CONVOLUTION)", "1e-5 * sum |a||b|"},
        {"lib.cufft", "python/library_checks.py", "POINTS, BINS, SMALL_POINTS = 1 << 16, 8, 64",
         "65536 complex float32 numbers"},
        {"lib.cufft", "python/library_checks.py", "BINS, SMALL_POINTS = 1 << 16, 8, 64",
         "8 of its bins and all 64"},
        {"lib.cufft", "python/library_checks.py", "LIMIT_TRANSFORM = 1e-6", "within 1e-6 (relative)"},
        {"lib.cusparse", "python/library_checks.py", "SPARSE_ROWS, SPARSE_COLUMNS, MOST_IN_ROW = 1021, 911",
         "sparse 1021 x 911"},
        {"lib.cusparse", "python/library_checks.py", "LIMIT_SPARSE = 1e-6", "e_F <= 1e-6"},
        {"lib.cusparse", "python/library_checks.py", "want, sizes, 8 * EPS)", "8 * eps * sum |a||b|"},
        {"lib.cusolver", "python/library_checks.py", "ORDER = 161", "161 x 161 float64"},
        {"lib.cusolver", "python/library_checks.py", "LIMIT_CHOLESKY = 1e-12", "<= 1e-12 * 161"},
        {"lib.curand", "python/torch_libraries.py", "blocks = 1024", "4096 numbers"},
        {"lib.nccl", "python/torch_reduce.py", "LENGTH = 65537", "65537 sums"},
        {"lib.nccl", "python/torch_reduce.py", "if device == \"cuda\" else 2", "2 on the CPU, by gloo"},
        {"torch.matmul", "python/torch_matmul.py", "SIZE = (257, 389, 1021)", "257 x 389 times 389 x 1021"},
        {"torch.matmul", "python/torch_matmul.py", "SAMPLES = 64", "64 entries"},
        {"torch.matmul", "python/torch_matmul.py", "major >= 8", "from compute capability 8.0"},
        {"torch.matmul", "python/torch_compare.py", "LIMIT_FP32 = 5e-6", "e_F <= 5e-6 in float32"},
        {"torch.matmul", "python/torch_compare.py", "LIMIT_HALF = 2e-5", "<= 2e-5 beyond"},
        {"torch.matmul", "python/torch_compare.py", "BAND_TF32 = (5e-5, 1e-3)", "between 5e-5 and 1e-3"},
        {"torch.matmul", "python/torch_compare.py", "8 * EPS * s", "8 * eps * sum |a||b|"},
        {"torch.step", "python/torch_step.py", "STEPS = 5", "5 steps of SGD"},
        {"torch.step", "python/torch_compare.py", "LIMIT_GRADIENT = 1e-4", "within 1e-4 (relative)"},
        {"torch.step", "python/torch_compare.py", "1e-6, \"reference\"", "within 1e-6"},
        {"torch.ext", "python/torch_ext.py", "LENGTH = 100003", "100003 int32 numbers"},
        {"torch.compile", "python/torch_compare.py", "LIMIT_COMPILED = 1e-3", "within 1e-3 (relative)"},
        {"torch.compile", "python/torch_compile.py", "LEAST = (7, 0)", "before compute capability 7.0"},
        {"torch.compile", "python/torch_compile.py", "fullgraph=True", "must become one graph"},
        {"torch.workers", "python/torch_workers.py", "WORKERS, BATCHES, BATCH_BYTES = 2, 4, 32 << 20",
         "4 batches of 32 MiB from 2 workers"},
    };
    for (const Row& row : rows) {
        const Test* test = find_test(row.id);
        REQUIRE_MESSAGE(test != nullptr, row.id);
        CHECK_MESSAGE(content(kKernels / row.file).find(row.code) != std::string::npos,
                      row.file << ": " << row.code);
        CHECK_MESSAGE(test->reference.find(row.words) != std::string_view::npos, row.id << ": " << row.words);
    }
}

TEST_CASE("registry: what the results tell of is in the list") {
    const auto ids =
        found(content(kKernels / "RESULTS.md"),
              "\\b((?:env|static|load|dev|mem|cmp|tc|con|jit|lib|torch|fault|stress)\\.[a-z_][a-z0-9_]*)\\b");
    CHECK(ids.size() > 3);
    for (const auto& id : ids)
        CHECK_MESSAGE(find_test(id) != nullptr, id);
}
