// cudaLaunchKernelExC and its attributes.
#ifdef SUITE_CUDART  // not in the tree with sanitizers, which do not go into libraries that are loaded
#include "unit/kernels/cudart_fixture.hpp"

namespace {

struct Attribute {
    unsigned id = 0;
    unsigned padding = 0;
    unsigned value[16] = {};
};
struct Configuration {
    Cudart::Dim3 grid;
    Cudart::Dim3 block;
    std::size_t shared = 0;
    void* stream = nullptr;
    const Attribute* attributes = nullptr;
    unsigned count = 0;
};

/// The size of the clusters that a kernel saw, or 1000 and the error of its launch.
unsigned size_of_clusters(const std::vector<Attribute>& attributes, Cudart::Dim3 grid = {8, 1, 1},
                          unsigned short arch = 90) {
    Cudart cudart;
    static char kernel = 0;
    std::string text = ptx_kernel("mov.u32 %r2, %cluster_nctarank; st.global.u32 [%rd1], %r2;");
    text.replace(text.find("sm_80"), 5, "sm_" + std::to_string(arch));
    cudart.add_module(&kernel, text, arch);
    void* memory = cudart.upload({0});
    void* arguments[] = {&memory};
    const Configuration configuration{grid, {}, 0, nullptr, attributes.data(), unsigned(attributes.size())};
    const int error = cudart.call("cudaLaunchKernelExC", &configuration, static_cast<const void*>(&kernel),
                                  static_cast<void**>(arguments));
    int supported = -1;
    CHECK(cudart.call("cudaDeviceGetAttribute", &supported, 120, 0) == 0);
    CHECK(supported == (arch >= 90 ? 1 : 0));
    return error != 0 ? 1000U + unsigned(error) : cudart.download(memory, 1)[0];
}

Attribute clusters(unsigned x, unsigned y = 1, unsigned z = 1) {
    return {4, 0, {x, y, z}};
}

}  // namespace

TEST_CASE("interpreter: the dimension of clusters is an attribute of a launch") {
    CHECK(size_of_clusters({}) == 1);
    CHECK(size_of_clusters({{}}) == 1);
    CHECK(size_of_clusters({clusters(1)}, {8, 1, 1}, 80) == 1);
    CHECK(size_of_clusters({clusters(4)}) == 4);
    CHECK(size_of_clusters({{}, clusters(8)}) == 8);
    CHECK(size_of_clusters({clusters(2, 2, 2)}, {4, 2, 6}) == 8);
    CHECK(size_of_clusters({{2, 0, {1}}}) == 1);
}

TEST_CASE("interpreter: clusters that run at once") {
    Cudart cudart;
    static char kernel = 0;
    std::string text = ptx_kernel("st.global.u32 [%rd1], %r1;");
    text.replace(text.find("sm_80"), 5, "sm_90");
    cudart.add_module(&kernel, text, 90);
    const auto most = [&](const std::vector<Attribute>& attributes, unsigned threads, std::size_t shared) {
        const Configuration configuration{{8, 1, 1}, {threads, 1, 1},   shared,
                                          nullptr,   attributes.data(), unsigned(attributes.size())};
        int clusters = -1;
        const int error = cudart.call("cudaOccupancyMaxActiveClusters", &clusters,
                                      static_cast<const void*>(&kernel), &configuration);
        return error != 0 ? 1000 + error : clusters;
    };
    CHECK(most({}, 64, 0) == 32);
    CHECK(most({clusters(2)}, 64, 0) == 16);
    CHECK(most({clusters(2)}, 512, 0) == 2);
    CHECK(most({clusters(2)}, 64, 100 << 10) == 1);
    CHECK(most({clusters(2)}, 64, 200 << 10) == 1);  // one block of a multiprocessor, two of them
    CHECK(most({clusters(8)}, 1024, 0) == 1);
    CHECK(most({clusters(2)}, 64, 300 << 10) == 0);
    CHECK(most({clusters(3)}, 64, 0) == 1009);
    CHECK(most({clusters(16)}, 64, 0) == 1912);
    CHECK(most({clusters(0)}, 64, 0) == 1001);
    CHECK(most({{99, 0, {1}}}, 64, 0) == 1801);
    int none = -1;
    CHECK(cudart.call("cudaOccupancyMaxActiveClusters", &none, static_cast<const void*>(&kernel),
                      static_cast<const Configuration*>(nullptr)) == 1);
    CHECK(cudart.call("cudaOccupancyMaxActiveClusters", static_cast<int*>(nullptr),
                      static_cast<const void*>(&kernel), static_cast<const Configuration*>(nullptr)) == 1);
    CHECK(none == -1);
}

TEST_CASE("interpreter: launches with attributes that are refused") {
    CHECK(size_of_clusters({clusters(3)}) == 1009);
    CHECK(size_of_clusters({clusters(4, 2)}) == 1009);
    CHECK(size_of_clusters({clusters(1, 1, 2)}) == 1009);
    CHECK(size_of_clusters({clusters(0)}) == 1001);
    CHECK(size_of_clusters({clusters(16)}, {16, 1, 1}) == 1912);
    CHECK(size_of_clusters({clusters(4)}, {8, 1, 1}, 80) == 1801);
    CHECK(size_of_clusters({clusters(4), {2, 0, {1}}}) == 1801);
    CHECK(size_of_clusters({{2, 0, {1}}}, {33, 1, 1}) == 1720);
    for (const unsigned id : {1U, 3U, 5U, 6U, 99U})
        CHECK(size_of_clusters({{id, 0, {1}}}) == 1801);
    Cudart cudart;
    CHECK(cudart.call("cudaLaunchKernelExC", static_cast<void*>(nullptr), static_cast<const void*>(&cudart),
                      static_cast<void**>(nullptr)) == 1);
}
#endif
