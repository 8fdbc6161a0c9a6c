// Where CuTe says that lanes hold the elements of matrices, in the form of
// tests/unit/kernels/matrix_layouts.txt. layouts_test.py compiles it against the headers of the package
// nvidia-cutlass.
#include <cstdio>
#include <cstdlib>
#include <cute/atom/copy_traits_sm75.hpp>
#include <cute/atom/mma_traits_sm120.hpp>
#include <cute/atom/mma_traits_sm75.hpp>
#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/atom/mma_traits_sm89.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/swizzle_layout.hpp>
#include <utility>

namespace {

constexpr int kLanes = 32;

/// CuTe counts the elements of A (M x K) and C (M x N) column by column, and of B as if it were N x K.
template <class Layout>
void print(const char* part, int rows, int columns, int bits, const char* atom, Layout layout) {
    const bool is_b = part[0] == 'B';
    std::printf("%s %d %d %d %s\n", part, rows, columns, bits, atom);
    const int values = static_cast<int>(cute::size<1>(layout));
    const int first = is_b ? columns : rows;
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int value = 0; value < values; ++value) {
            const int at = static_cast<int>(layout(lane, value));
            const int line = at % first;
            const int depth = at / first;
            std::printf("%s%d,%d", value == 0 ? "" : " ", is_b ? depth : line, is_b ? line : depth);
        }
        std::printf("\n");
    }
}

template <class Atom>
void print_mma(const char* name) {
    using Traits = cute::MMA_Traits<Atom>;
    using Shape = typename Traits::Shape_MNK;
    const int m = static_cast<int>(cute::size<0>(Shape{}));
    const int n = static_cast<int>(cute::size<1>(Shape{}));
    const int k = static_cast<int>(cute::size<2>(Shape{}));
    print("A", m, k, cute::sizeof_bits_v<typename Traits::ValTypeA>, name, typename Traits::ALayout{});
    print("B", k, n, cute::sizeof_bits_v<typename Traits::ValTypeB>, name, typename Traits::BLayout{});
    print("C", m, n, 0, name, typename Traits::CLayout{});
}

/// The line of the matrix whose scales a lane holds. What CuTe's layout counts beyond that is K itself.
template <class Layout>
void print_scales(const char* part, int lines, int k, const char* name, Layout layout) {
    std::printf("%s %d %d 0 %s\n", part, lines, k, name);
    for (int lane = 0; lane < kLanes; ++lane) {
        const int line = static_cast<int>(layout(lane, 0));
        for (int depth = 0; depth < k; ++depth) {
            if (static_cast<int>(layout(lane, depth)) != line + depth * lines) {
                std::fprintf(stderr, "%s of %s: no lane holds one line\n", part, name);
                std::exit(1);
            }
        }
        std::printf("%d,0\n", line);
    }
}

template <class Atom>
void print_scaled(const char* name) {
    print_mma<Atom>(name);
    using Traits = cute::MMA_Traits<Atom>;
    using Shape = typename Traits::Shape_MNK;
    const int k = static_cast<int>(cute::size<2>(Shape{}));
    print_scales("SA", static_cast<int>(cute::size<0>(Shape{})), k, name, typename Traits::SFALayout{});
    print_scales("SB", static_cast<int>(cute::size<1>(Shape{})), k, name, typename Traits::SFBLayout{});
}

/// Which element, of rows of eight 16-bit elements that lie one after the other, each 16 bits of a lane are.
template <class Atom>
void print_ldmatrix(const char* name, int registers, bool transposed) {
    using Layout = typename cute::Copy_Traits<Atom>::DstLayout;
    std::printf("%s %d 8 16 %s\n", transposed ? "trans" : "plain", 8 * registers, name);
    const Layout layout{};
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int value = 0; value < 2 * registers; ++value) {
            const int element = static_cast<int>(layout(lane, 16 * value)) / 16;
            std::printf("%s%d,%d", value == 0 ? "" : " ", element / 8, element % 8);
        }
        std::printf("\n");
    }
}

/// A thread's elements of 64 x `columns`, which CuTe counts column by column.
template <class Layout>
void print_group(const char* part, int columns, int bits, Layout layout) {
    constexpr int kRows = 64;
    constexpr int kGroup = 128;
    std::printf("%s %d %d %d SM90\n", part, kRows, columns, bits);
    for (int thread = 0; thread < kGroup; ++thread) {
        for (int value = 0; value < static_cast<int>(cute::size<1>(layout)); ++value) {
            const int at = static_cast<int>(layout(thread, value));
            std::printf("%s%d,%d", value == 0 ? "" : " ", at % kRows, at / kRows);
        }
        std::printf("\n");
    }
}

template <int... kEights>
void print_sums(std::integer_sequence<int, kEights...>) {
    (print_group("sums", 8 * (kEights + 1), 0, cute::SM90::GMMA::CLayout_64xN<8 * (kEights + 1)>{}), ...);
}

/// Where 64 x 16 elements of 16 bits lie in shared memory, counted in elements.
template <class Atom, int kDepth = 16>
void print_matrix(const char* title) {
    const auto layout = cute::as_position_independent_swizzle_layout(
        cute::tile_to_shape(Atom{}, cute::Shape<cute::_64, cute::Int<kDepth>>{}));
    std::printf("%s\n", title);
    for (int m = 0; m < 64; ++m) {
        for (int k = 0; k < 16; ++k)
            std::printf("%s%d,0", k == 0 ? "" : " ", static_cast<int>(layout(m, k)));
        std::printf("\n");
    }
}

void print_wgmma() {
    namespace GMMA = cute::SM90::GMMA;
    using Half = cute::half_t;
    print_sums(std::make_integer_sequence<int, 32>{});
    print_group("fragments", 8, 32, GMMA::ALayout_64x8{});
    print_group("fragments", 16, 16, GMMA::ALayout_64x16{});
    print_group("fragments", 32, 8, GMMA::ALayout_64x32{});
    print_matrix<GMMA::Layout_K_INTER_Atom<Half>>("K-major 64 16 16 INTER SM90");
    print_matrix<GMMA::Layout_K_SW32_Atom<Half>>("K-major 64 16 16 SW32 SM90");
    print_matrix<GMMA::Layout_K_SW64_Atom<Half>, 32>("K-major 64 16 16 SW64 SM90");
    print_matrix<GMMA::Layout_K_SW128_Atom<Half>, 64>("K-major 64 16 16 SW128 SM90");
    print_matrix<GMMA::Layout_MN_INTER_Atom<Half>>("M-major 64 16 16 INTER SM90");
    print_matrix<GMMA::Layout_MN_SW32_Atom<Half>>("M-major 64 16 16 SW32 SM90");
    print_matrix<GMMA::Layout_MN_SW64_Atom<Half>>("M-major 64 16 16 SW64 SM90");
    print_matrix<GMMA::Layout_MN_SW128_Atom<Half>>("M-major 64 16 16 SW128 SM90");
}

}  // namespace

#define PRINT_MMA(ATOM) print_mma<cute::ATOM>(#ATOM)
#define PRINT_BYTES(A, B)                               \
    PRINT_MMA(SM80_8x8x16_S32##A##B##S32_TN);           \
    PRINT_MMA(SM80_8x8x16_S32##A##B##S32_TN_SATURATE);  \
    PRINT_MMA(SM80_16x8x16_S32##A##B##S32_TN);          \
    PRINT_MMA(SM80_16x8x16_S32##A##B##S32_TN_SATURATE); \
    PRINT_MMA(SM80_16x8x32_S32##A##B##S32_TN);          \
    PRINT_MMA(SM80_16x8x32_S32##A##B##S32_TN_SATURATE)
#define PRINT_SCALED(SHAPE, A, B, SCALE, BLOCK)                                                     \
    print_scaled<cute::SM120::BLOCKSCALED::SM120_##SHAPE##_TN_VS<                                   \
        cutlass::float_##A##_t, cutlass::float_##B##_t, float, cutlass::float_##SCALE##_t, BLOCK>>( \
        "SM120_" #SHAPE "_TN_VS<" #A ":" #B ":" #SCALE ":" #BLOCK ">")

int main() {
    PRINT_MMA(SM75_16x8x8_F32F16F16F32_TN);
    PRINT_MMA(SM75_8x8x16_S32S8S8S32_TN);
    PRINT_MMA(SM80_16x8x8_F16F16F16F16_TN);
    PRINT_MMA(SM80_16x8x8_F32F16F16F32_TN);
    PRINT_MMA(SM80_16x8x16_F16F16F16F16_TN);
    PRINT_MMA(SM80_16x8x16_F32F16F16F32_TN);
    PRINT_MMA(SM80_16x8x8_F32BF16BF16F32_TN);
    PRINT_MMA(SM80_16x8x16_F32BF16BF16F32_TN);
    PRINT_MMA(SM80_16x8x4_F32TF32TF32F32_TN);
    PRINT_MMA(SM80_16x8x8_F32TF32TF32F32_TN);
    PRINT_MMA(SM80_8x8x4_F64F64F64F64_TN);
    PRINT_BYTES(S8, S8);
    PRINT_BYTES(S8, U8);
    PRINT_BYTES(U8, S8);
    PRINT_BYTES(U8, U8);
    PRINT_MMA(SM89_16x8x32_F32E4M3E4M3F32_TN);
    PRINT_MMA(SM89_16x8x32_F32E4M3E5M2F32_TN);
    PRINT_MMA(SM89_16x8x32_F32E5M2E4M3F32_TN);
    PRINT_MMA(SM89_16x8x32_F32E5M2E5M2F32_TN);
    PRINT_SCALED(16x8x64, e2m1, e2m1, ue4m3, 16);
    PRINT_SCALED(16x8x64, e2m1, e2m1, ue8m0, 32);
    PRINT_SCALED(16x8x32, e4m3, e4m3, ue8m0, 32);
    PRINT_SCALED(16x8x32, e4m3, e5m2, ue8m0, 32);
    PRINT_SCALED(16x8x32, e5m2, e4m3, ue8m0, 32);
    PRINT_SCALED(16x8x32, e5m2, e5m2, ue8m0, 32);
    print_ldmatrix<cute::SM75_U32x1_LDSM_N>("SM75_U32x1_LDSM_N", 1, false);
    print_ldmatrix<cute::SM75_U32x2_LDSM_N>("SM75_U32x2_LDSM_N", 2, false);
    print_ldmatrix<cute::SM75_U32x4_LDSM_N>("SM75_U32x4_LDSM_N", 4, false);
    print_ldmatrix<cute::SM75_U16x2_LDSM_T>("SM75_U16x2_LDSM_T", 1, true);
    print_ldmatrix<cute::SM75_U16x4_LDSM_T>("SM75_U16x4_LDSM_T", 2, true);
    print_ldmatrix<cute::SM75_U16x8_LDSM_T>("SM75_U16x8_LDSM_T", 4, true);
    print_wgmma();
    return 0;
}
