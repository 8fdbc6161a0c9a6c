#pragma once

#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/tensor/bf16.hpp"

/// tc.wgmma: products of bfloat16 by the instructions of 9.0a, which multiply in four warps what TMA has
/// brought to shared memory, against float64.
namespace cudamatrix::suite {

/// The tile of a block: each of its warpgroups has 64 rows of it.
struct TensorWgmma : TensorBf16 {
    static constexpr const char* kId = "tc.wgmma";
    static constexpr int kM = 128;
    static constexpr int kN = 256;
};

inline constexpr int kWgmmaDepth = 64;  ///< of K in one stage: rows of 128 bytes
inline constexpr int kWgmmaStages = 4;  ///< that TMA may be ahead
inline constexpr int kWgmmaBlocks = 2;  ///< of a cluster, one below the other: they share the tile of B
inline constexpr int kWgmmaGroup = 4 * kWarp;                              ///< threads that multiply together
inline constexpr int kWgmmaConsumers = 2;                                  ///< groups that multiply
inline constexpr int kWgmmaThreads = (kWgmmaConsumers + 1) * kWgmmaGroup;  ///< the last one starts the copies
inline constexpr int kWgmmaBand = 8;  ///< rows of clusters that the walk stays in
/// Clusters at most, where speed does not matter: each walks, also on a GPU that has room for more.
inline constexpr int kWgmmaClusters = 2;
inline constexpr TensorShape kWgmmaShape{264, 328, 168};  ///< tiles stick out along all three

/// Tiles of C that cover it, an even number in each column.
struct WgmmaTiles {
    int rows = 0;     ///< of clusters
    int columns = 0;  ///< of tiles

    CUDAMATRIX_BODY int count() const { return rows * columns; }
};

CUDAMATRIX_BODY WgmmaTiles wgmma_tiles(const TensorShape& shape) {
    constexpr int kRows = TensorWgmma::kM * kWgmmaBlocks;
    return {(shape.m + kRows - 1) / kRows, (shape.n + TensorWgmma::kN - 1) / TensorWgmma::kN};
}

/// The first element of a tile.
struct WgmmaTile {
    int row = 0;
    int column = 0;
};

/// Number `number` of those tiles in the walk, for the block of the cluster with this rank. Clusters that run
/// at once have tiles near each other, so that what they read is in the L2 cache: the walk goes down the
/// columns of a band, then through the next band.
CUDAMATRIX_BODY WgmmaTile wgmma_tile(const WgmmaTiles& tiles, int number, int rank) {
    const int of_band = kWgmmaBand * tiles.columns;
    const int first = number / of_band * kWgmmaBand;
    const int height = tiles.rows - first < kWgmmaBand ? tiles.rows - first : kWgmmaBand;
    const int row = first + number % of_band % height;
    return {(row * kWgmmaBlocks + rank) * TensorWgmma::kM, number % of_band / height * TensorWgmma::kN};
}

/// Tiles: a block does some of them, and reports each.
template <>
inline int tensor_blocks<TensorWgmma>(const TensorShape& shape) {
    return wgmma_tiles(shape).count() * kWgmmaBlocks;
}

[[nodiscard]] TensorInputs<TensorWgmma> wgmma_inputs(const TensorShape& shape = kWgmmaShape);
[[nodiscard]] Record wgmma_check(const TensorInputs<TensorWgmma>& inputs,
                                 const TensorOutputs<TensorWgmma>& outputs, const char* backend);

}  // namespace cudamatrix::suite
