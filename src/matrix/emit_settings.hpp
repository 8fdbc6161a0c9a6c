// emit: of a matrix file: who runs what `cudamatrix emit` writes. It makes no cells and changes no image.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "matrix/condition.hpp"

namespace cudamatrix {

/// One entry of emit.machines: what runs the cells that `when` matches, unless an earlier entry does.
struct Machine {
    Condition when;                   ///< without clauses: every cell
    std::vector<std::string> labels;  ///< runs-on, tags, queue, label: what each system calls it
    bool gpu = false;                 ///< has the GPU of these cells: passing without one is a failure there
    Location where;
};

struct EmitSettings {
    std::string tool;    ///< git URL of cudamatrix, for machines that build it; empty: they have it
    std::string commit;  ///< of `tool`: 40 hexadecimal digits
    std::vector<Machine> machines;
    std::string registry;        ///< prefix under which clusters find the images; empty: none was named
    std::string namespace_name;  ///< of Kubernetes; empty: the one that kubectl chooses
    std::string queue;           ///< a local queue of Kueue; empty: none
    std::string partition;       ///< of Slurm; empty: its default
    std::string start =
        "run";  ///< how Slurm starts an image: run (cudamatrix on the node), pyxis, apptainer, podman
};

}  // namespace cudamatrix
