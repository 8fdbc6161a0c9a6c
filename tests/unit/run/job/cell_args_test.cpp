#include "run/job/suite_run.hpp"

#include <doctest/doctest.h>

#include <set>

#include "base/text.hpp"
#include "kernels/registry.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

// A cell made of values that live as long as it.
struct TestCell {
    TestCell(std::initializer_list<std::pair<Field, const char*>> fields) {
        values.reserve(fields.size());
        for (const auto& [field, text] : fields) {
            values.push_back({text, {}, {}});
            cell.set(field, &values.back());
        }
    }
    std::vector<Value> values;
    Cell cell;
};

const std::vector<engine::Gpu> kMachine{{0, "NVIDIA H200", "9.0", "570.86.15"},
                                        {1, "Tesla T4", "7.5", "570.86.15"}};

Image cuda_image() {
    Image image;
    image.cuda = "11.8.0";
    image.cudart = "libcudart.so.11.0";
    return image;
}

}  // namespace

TEST_CASE("cell args: the device is the cell's compute, else its GPU's, with the driver's PTX ISA") {
    const auto facts = Facts::embedded();
    const TestCell by_gpu{{Field::gpu, "T4"}, {Field::driver, "550.54.15"}};
    CHECK(cell_device(facts, by_gpu.cell).compute == "7.5");
    CHECK_FALSE(cell_device(facts, by_gpu.cell).ptx_isa.empty());
    const TestCell both{{Field::gpu, "T4"}, {Field::compute, "9.0a"}};
    CHECK(cell_device(facts, both.cell).compute == "9.0");
    CHECK(cell_device(facts, both.cell).ptx_isa.empty());
    const TestCell unknown{{Field::gpu, "RTX 9999"}, {Field::driver, "999"}};
    CHECK(cell_device(facts, unknown.cell).compute.empty());
    CHECK(cell_device(facts, unknown.cell).ptx_isa.empty());
    CHECK(cell_device(facts, TestCell{}.cell).compute.empty());
}

TEST_CASE(
    "cell args: a cell runs on the machine's GPU of its compute capability, under the driver that it names") {
    const auto chosen = [](const TestCell& cell, const char* compute) {
        return choose_gpu(kMachine, cell.cell, {compute, ""});
    };
    CHECK(chosen({}, "7.5").index == 1u);
    CHECK(chosen({}, "9.0").index == 0u);
    CHECK(chosen({}, "").index == 0u);
    CHECK(chosen({{Field::driver, "570.86.15"}}, "9.0").index == 0u);
    CHECK(chosen({{Field::driver, "570"}}, "9.0").index == 0u);
    CHECK(chosen({{Field::driver, "R570"}}, "9.0").index == 0u);
}

TEST_CASE("cell args: a cell is never run on a GPU or a driver that it does not name") {
    const TestCell none{};
    auto choice = choose_gpu(kMachine, none.cell, {"8.0", ""});
    CHECK_FALSE(choice.index.has_value());
    CHECK(choice.why_not ==
          "not run on this machine's GPU: its compute capability is 9.0 (NVIDIA H200), the cell's 8.0");
    const TestCell older{{Field::driver, "535.183.01"}};
    choice = choose_gpu(kMachine, older.cell, {"9.0", ""});
    CHECK_FALSE(choice.index.has_value());
    CHECK(choice.why_not == "not run on this machine's GPU: its driver is 570.86.15, the cell's 535.183.01");
    const TestCell sibling{{Field::driver, "570.124.06"}};
    CHECK_FALSE(choose_gpu(kMachine, sibling.cell, {"9.0", ""}).index.has_value());
    choice = choose_gpu({}, none.cell, {"9.0", ""});
    CHECK_FALSE(choice.index.has_value());
    CHECK(choice.why_not.empty());
}

TEST_CASE("cell args: what the suite of a CUDA image is asked for") {
    CHECK(text::join(suite_arguments(cuda_image(), "drv550-t4-cu11.8.0", {.compute = "7.5", .ptx_isa = "8.4"},
                                     false),
                     " ") ==
          "run --cell drv550-t4-cu11.8.0 --compute 7.5 --ptx-isa 8.4 --expect-cuda 11.8.0 --mode nogpu");
    CHECK(text::join(image_arguments(cuda_image()), " ") == "--lib libcudart.so.11.0");
    auto image = cuda_image();
    image.cuda = "13.4.3";
    image.cudart = "libcudart.so.13";
    CHECK(text::join(suite_arguments(image, "c", {"", ""}, true), " ") ==
          "run --cell c --expect-cuda 13.4.3 --mode gpu");
    CHECK(text::join(image_arguments(image), " ") == "--lib libcudart.so.13");
}

TEST_CASE("cell args: how much of the suite is asked for") {
    CHECK(level_arguments("quick", 10).empty());
    CHECK(text::join(level_arguments("standard", 10), " ") == "--level standard");
    CHECK(text::join(level_arguments("full", 10), " ") == "--level full");
    CHECK(text::join(level_arguments("soak", 90), " ") == "--level soak --soak-seconds 5400");
}

TEST_CASE("cell args: memory of the GPU and of /dev/shm that the cell promises") {
    const auto facts = Facts::embedded();
    const TestCell cell{{Field::compute, "7.5"}, {Field::vram_gb, "16"}, {Field::shm_gb, "8"}};
    const auto device = cell_device(facts, cell.cell);
    CHECK(device.memory_mib == 14495);  // a T4 shows 15,095
    CHECK(device.shm_mib == 8192);
    CHECK(text::join(suite_arguments(cuda_image(), "c", device, false), " ") ==
          "run --cell c --compute 7.5 --expect-cuda 11.8.0 --min-memory-mib 14495 --min-shm-mib 8192 --mode "
          "nogpu");
    CHECK(cell_device(facts, TestCell{}.cell).memory_mib == 0);
    CHECK(cell_device(facts, TestCell{}.cell).shm_mib == 0);
}

TEST_CASE("cell args: what the suite of a torch image is asked for") {
    Image image;
    image.torch = "2.6.0";
    image.torch_variant = "cu124";
    image.torch_cuda = "12.4";
    image.python = "3.11";
    CHECK(text::join(suite_arguments(image, "c", {"8.6", ""}, false), " ") ==
          "run --cell c --compute 8.6 --expect-torch 2.6.0+cu124 --expect-torch-cuda 12.4 --mode nogpu");
    CHECK(text::join(image_arguments(image), " ") ==
          "--python /opt/venv/bin/python --fatbin "
          "/opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so");
    image.torch_variant = "cpu";
    image.torch_cuda = "None";
    CHECK(text::join(suite_arguments(image, "c", {"", ""}, false), " ") ==
          "run --cell c --expect-torch 2.6.0+cpu --mode nogpu");
    CHECK(text::join(image_arguments(image), " ") == "--python /opt/venv/bin/python");
}

TEST_CASE("cell args: every test of the list must be planned, those of torch where torch is") {
    std::set<std::string> all, without_torch;
    for (const auto& test : suite::all_tests()) {
        all.emplace(test.id);
        if (test.group != "torch") without_torch.emplace(test.id);
    }
    CHECK(without_torch.size() < all.size());
    Image image;
    CHECK(required_tests(image) == without_torch);
    image.torch = "2.6.0";
    CHECK(required_tests(image) == all);
}

TEST_CASE("cell args: the registry's ids are read, its comments are not") {
    CHECK(registered_tests("// CUDAMATRIX_HOST_TEST(id, group)\n"
                           "CUDAMATRIX_HOST_TEST(\"env.vars\", \"env\", env_vars)\n"
                           "  CUDAMATRIX_CUDA_TEST(\"cmp.vadd\", \"compute\")\n"
                           "CUDAMATRIX_PYTHON_TEST(\"\")\nCUDAMATRIX_HOST_TEST(\"cut\n#include <x>\n") ==
          std::set<std::string>{"env.vars", "cmp.vadd"});
}

TEST_CASE("cell args: why a GPU is another than the cell's") {
    const auto why = [](const TestCell& cell, const char* compute, std::size_t gpu = 1) {
        return why_another_gpu(kMachine[gpu], cell.cell, {compute, ""});
    };
    CHECK(why({}, "").empty());
    CHECK(why({}, "7.5").empty());
    CHECK(why({{Field::driver, "570"}}, "7.5").empty());
    CHECK(why({{Field::driver, "570.86.15"}}, "").empty());
    CHECK(why({{Field::driver, "550.54.15"}}, "7.5") == "its driver is 570.86.15, the cell's 550.54.15");
    CHECK(why({{Field::driver, "570.86.16"}}, "9.0") == "its driver is 570.86.15, the cell's 570.86.16");
    CHECK(why({}, "9.0") == "its compute capability is 7.5 (Tesla T4), the cell's 9.0");
    CHECK(why({}, "7.5", 0) == "its compute capability is 9.0 (NVIDIA H200), the cell's 7.5");
}
