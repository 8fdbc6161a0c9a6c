#include <array>

#include "advise/lint/lint.hpp"

namespace cudamatrix::lint {

std::span<const Check> checks() {
    using enum Severity;
    static constexpr std::array list{
        Check{"product-unused", warning, "the axes make no cell that is not excluded or rejected"},
        Check{"axis-value-excluded", warning, "excludes cover every cell with a value of an axis"},
        Check{"axis-value-rejected", warning, "every cell with a value of an axis is rejected"},
        Check{"same-release-twice", warning, "two values of an axis mean one release"},
        Check{"one-value-axis", note, "an axis with one value could be under set"},
        Check{"exclude-matches-nothing", warning, "an exclude that covers no cell"},
        Check{"include-repeats-cell", warning, "an include whose cell exists already"},
        Check{"rule-matches-nothing", warning, "a rule of the file that no cell meets"},
        Check{"waiver-matches-nothing", warning, "a waiver that accepts no finding"},
        Check{"image-matches-nothing", warning, "an entry of images that no cell meets"},
        Check{"waiver-ended", warning, "a waiver past its last day"},
        Check{"waiver-ends-soon", warning, "a waiver that ends within --within days"},
        Check{"tag-cannot-exist", error, "an image tag that never existed or was deleted"},
        Check{"index-cannot-exist", error, "a CUDA variant of torch without a wheel index"},
        Check{"same-image", note, "cells that differ in what an image holds, and yet share one"},
        Check{"mirror-unused", warning, "a mirror that no step of this matrix asks"},
        Check{"stages-hide-findings", warning, "cells that pass only because stages leaves a stage out"},
        Check{"set-field-unused", warning, "a field of set that no rule, condition or template reads"},
        Check{"facts-old", warning, "facts older than 180 days"},
        Check{"allow-unknown", warning, "a comment that allows a check which does not exist"},
    };
    return list;
}

}  // namespace cudamatrix::lint
