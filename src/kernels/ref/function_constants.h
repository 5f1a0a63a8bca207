/* Numbers of the elementary functions that are no plain fractions. Made by
 * scripts/function-constants.py; not to be edited by hand. */
#ifndef KERNELS_REF_FUNCTION_CONSTANTS_H
#define KERNELS_REF_FUNCTION_CONSTANTS_H

#include <stdint.h>

/* clang-format off */
#define INV_LN2 0x1.71547652b82fep+0
#define LN2_HI 0x1.62e42fefa39efp-1
#define LN2_LO 0x1.abc9e3b39803fp-56
/* ln 2 in parts whose product with an exponent of a double is exact. */
#define LN2_PART_1 0x1.62e42fefa2000p-1
#define LN2_PART_2 0x1.9ef35793c6000p-41
#define LN2_PART_3 0x1.673007e5ed5e8p-81
#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53
#define HALF_PI_HI 0x1.921fb54442d18p+0
#define HALF_PI_LO 0x1.1a62633145c07p-54
#define QUARTER_PI_HI 0x1.921fb54442d18p-1
#define QUARTER_PI_LO 0x1.1a62633145c07p-55
#define EIGHTH_PI 0x1.921fb54442d18p-2
#define TAN_EIGHTH_PI 0x1.a827999fcef32p-2
#define TAN_SIXTEENTH_PI 0x1.975f5e0553158p-3
#define TAN_3_SIXTEENTHS_PI 0x1.561b82ab7f990p-1
#define TWO_OVER_PI 0x1.45f306dc9c883p-1
/* pi / 2 in parts whose product with an integer below 2^20 is exact. */
#define HALF_PI_PART_1 0x1.921fb54400000p+0
#define HALF_PI_PART_2 0x1.0b4611a600000p-34
#define HALF_PI_PART_3 0x1.3198a2e037073p-69
#define TWO_OVER_SQRT_PI_HI 0x1.20dd750429b6dp+0
#define TWO_OVER_SQRT_PI_LO 0x1.1ae3a914fed80p-56
#define ONE_OVER_3_HI 0x1.5555555555555p-2
#define ONE_OVER_3_LO 0x1.5555555555555p-56
#define ONE_OVER_5_HI 0x1.999999999999ap-3
#define ONE_OVER_5_LO -0x1.999999999999ap-57
#define ONE_OVER_7_HI 0x1.2492492492492p-3
#define ONE_OVER_7_LO 0x1.2492492492492p-57
#define ONE_OVER_FACTORIAL_3_HI 0x1.5555555555555p-3
#define ONE_OVER_FACTORIAL_3_LO 0x1.5555555555555p-57
#define ONE_OVER_FACTORIAL_4_HI 0x1.5555555555555p-5
#define ONE_OVER_FACTORIAL_4_LO 0x1.5555555555555p-59
#define ONE_OVER_FACTORIAL_5_HI 0x1.1111111111111p-7
#define ONE_OVER_FACTORIAL_5_LO 0x1.1111111111111p-63
#define ONE_OVER_FACTORIAL_6_HI 0x1.6c16c16c16c17p-10
#define ONE_OVER_FACTORIAL_6_LO -0x1.f49f49f49f49fp-65
#define ONE_OVER_FACTORIAL_7_HI 0x1.a01a01a01a01ap-13
#define ONE_OVER_FACTORIAL_7_LO 0x1.a01a01a01a01ap-73
#define ONE_OVER_FACTORIAL_8_HI 0x1.a01a01a01a01ap-16
#define ONE_OVER_FACTORIAL_8_LO 0x1.a01a01a01a01ap-76

/* erf(x) = x P((x^2 - 8) / 8) for |x| <= 4, lowest degree first; relative error below 2^-38. */
#define ERF_POLYNOMIAL(t) \
    ((((((((((((((((((((((((((((((((((((((((((-0x1.2bcaa50b10d86p-18 * (t)) + 0x1.bc776ad31e4bep-17) * (t)) -       \
     0x1.bcf1ce0928958p-17) * (t)) + 0x1.051075c9ab99ap-15) * (t)) - 0x1.0654e39321f81p-13) * (t)) +                \
     0x1.399c103d51c8dp-12) * (t)) - 0x1.3e0c75f8ad904p-11) * (t)) + 0x1.4d9014bdd4451p-10) * (t)) -                \
     0x1.526260b83154ap-9) * (t)) + 0x1.3ecd837936f89p-8) * (t)) - 0x1.19f8295a7ffaap-7) * (t)) +                   \
     0x1.d61512004ff62p-7) * (t)) - 0x1.7036105d98834p-6) * (t)) + 0x1.0ed6e7dbd8678p-5) * (t)) -                   \
     0x1.76e853192f7d9p-5) * (t)) + 0x1.ea97b97dcfa5fp-5) * (t)) - 0x1.3215d94772f8fp-4) * (t)) +                   \
     0x1.717efe43d8378p-4) * (t)) - 0x1.b92e95bdf6ef4p-4) * (t)) + 0x1.0dabaf0052545p-3) * (t)) -                   \
     0x1.69a0ccda3fddcp-3) * (t)) + 0x1.6a040781a7a57p-2)

/* atan(i / 16) as hi, lo. */
static const double atan_sixteenths[17][2] = {
    {0x0.0p+0, 0x0.0p+0},
    {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

/* erf(i / 8) and 2 / sqrt(pi) exp(-(i / 8)^2), each as hi, lo. */
static const double erf_eighths[49][4] = {
    {0x0.0p+0, 0x0.0p+0, 0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56},
    {0x1.1f5e1a35c3b89p-3, 0x1.d0b6d6493e0f4p-57, 0x1.1c62fa1e869b6p+0, 0x1.ce6909ad6a1e7p-55},
    {0x1.1af54e232d609p-2, -0x1.bee921fa4172bp-56, 0x1.0f5d1602f7e41p+0, -0x1.3e41778d4b1eep-55},
    {0x1.9dd0d2b721f39p-2, -0x1.1671c021d14c4p-56, 0x1.f5f0cdaf15313p-1, 0x1.dff29f5ad8117p-60},
    {0x1.0a7ef5c18edd2p-1, 0x1.5e809f1a31a28p-56, 0x1.c1efca49a5011p-1, 0x1.4c081d7f49500p-55},
    {0x1.3f196dcd0f135p-1, -0x1.f25f4f6fdf70bp-56, 0x1.86e9694134b9ep-1, -0x1.3bda1314b1d68p-55},
    {0x1.6c1c9759d0e5fp-1, 0x1.b1432f2cbc455p-55, 0x1.492e42d78d2c5p-1, -0x1.8bd386a7ba3f6p-55},
    {0x1.91724951b8fc6p-1, -0x1.27912dd352f8bp-55, 0x1.0cab61f084b93p-1, 0x1.098a511a778e7p-56},
    {0x1.af767a741088bp-1, -0x1.c97f778122797p-56, 0x1.a911f096fbc26p-2, -0x1.086a09f735b33p-56},
    {0x1.c6dad2829ec62p-1, -0x1.ab76d4cba3d05p-57, 0x1.45e99bcbb7915p-2, 0x1.7bcd0125a8155p-56},
    {0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55, 0x1.e4652fadcb6b2p-3, -0x1.e950836901024p-61},
    {0x1.e5768c3b4a3fcp-1, 0x1.8b62674f89890p-57, 0x1.5ce595c455b0ap-3, 0x1.c317415c2c6e1p-59},
    {0x1.eea5557137ae0p-1, -0x1.385e445f2c96dp-55, 0x1.e723726b824a9p-4, -0x1.2203197eea764p-59},
    {0x1.f4f693b67bd77p-1, -0x1.3a1ee1406c356p-56, 0x1.499d478bca735p-4, 0x1.31c41d17378e2p-60},
    {0x1.f92d077f8d56dp-1, 0x1.8b55ef493fce7p-56, 0x1.b055303221015p-5, 0x1.cba9ea60ed019p-59},
    {0x1.fbe61eef4cf6ap-1, 0x1.15ded88667618p-55, 0x1.12ceb37ff9bc3p-5, 0x1.a3b0b09d34761p-59},
    {0x1.fd9ae142795e3p-1, 0x1.972801904b9a3p-56, 0x1.529b9e8cf9a1ep-6, 0x1.b47becf12c4e4p-61},
    {0x1.fea4218d6594ap-1, -0x1.e3333d8f7d98cp-58, 0x1.94624e78e0fafp-7, -0x1.41864737c78ffp-61},
    {0x1.ff404760319b4p-1, 0x1.f142071432025p-56, 0x1.d4143a9dfe965p-8, -0x1.6eec3c35c7ed7p-63},
    {0x1.ff9960f3eb327p-1, -0x1.08b1ca6e97f80p-56, 0x1.06918b6355624p-8, 0x1.21b463b8e3a00p-62},
    {0x1.ffcaa8f4c9beap-1, 0x1.b0cee160116f9p-55, 0x1.1d83170fbf6fbp-9, 0x1.ea3671efbb74ap-63},
    {0x1.ffe514bbdc197p-1, -0x1.cd963345b5c6dp-58, 0x1.2ce898809244ep-10, 0x1.092b45493a9e8p-64},
    {0x1.fff2cfb0453d9p-1, 0x1.9a913686042a3p-55, 0x1.3360ccd23db3ap-11, 0x1.39e15444e9dddp-69},
    {0x1.fff9ba420e834p-1, 0x1.1379ec5aa630ep-56, 0x1.30538fbb77ecdp-12, 0x1.8c5e8c1b3532fp-69},
    {0x1.fffd1ac4135f9p-1, 0x1.eeafa1ecd6cefp-55, 0x1.2408e9ba3327fp-13, -0x1.7e1d81587040cp-67},
    {0x1.fffeb3ebb267bp-1, 0x1.e47f697047cbap-57, 0x1.0f9e1b4dd36dfp-14, -0x1.3fedc80d9c7aep-71},
    {0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55, 0x1.e9b5e8d00ce77p-16, -0x1.cbbe2ecd1cfacp-70},
    {0x1.ffffc316d9ed0p-1, -0x1.8b32f44f46b3bp-55, 0x1.abe09e9144b5ep-17, 0x1.308300923fe4bp-71},
    {0x1.ffffe710d565ep-1, 0x1.c9ea52d76dc04p-55, 0x1.6a597219a93dap-18, -0x1.cbf8fbc2cd5cdp-72},
    {0x1.fffff618c3da6p-1, -0x1.19309ce23aa3ep-58, 0x1.296a70f414053p-19, 0x1.036e65808a17dp-74},
    {0x1.fffffc2f171e3p-1, 0x1.85edd0395f475p-55, 0x1.d9371e2ff7c35p-21, 0x1.0aed0951e078dp-75},
    {0x1.fffffe92ced93p-1, -0x1.d2db2ecfe14aep-55, 0x1.6ce1aa3fd7bddp-22, 0x1.bf15b0bc56aabp-80},
    {0x1.ffffff7b91176p-1, 0x1.0b2865615db40p-56, 0x1.10b1488aeb235p-23, -0x1.cd75b4828c0c0p-81},
    {0x1.ffffffd169d0cp-1, 0x1.70a2bfb068e6fp-55, 0x1.8b0cfce0579e0p-25, -0x1.e8bad9967ec2cp-79},
    {0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60, 0x1.155a09065d4f7p-26, -0x1.7c5d6c7140f80p-81},
    {0x1.fffffffabd229p-1, -0x1.4dbe49bec3ef2p-57, 0x1.7974e743dea3dp-28, -0x1.b6101ddd90bdbp-82},
    {0x1.fffffffe4fa30p-1, 0x1.d166bcb681c7bp-57, 0x1.f1e3523b41d7dp-30, -0x1.7303536c50b37p-84},
    {0x1.ffffffff79626p-1, 0x1.5fbc52d650a89p-55, 0x1.3e44e45301b92p-31, 0x1.1a5c00d13a5f2p-85},
    {0x1.ffffffffd759dp-1, 0x1.f7bee7eb23420p-55, 0x1.8a61745ec7d1dp-33, 0x1.9d509f787b50ep-88},
    {0x1.fffffffff4188p-1, 0x1.7a2cb3d056eacp-55, 0x1.d9a880f306bd8p-35, -0x1.fbec4689ff1dap-94},
    {0x1.fffffffffc9e8p-1, -0x1.a759f7738935fp-56, 0x1.13af4f04f9998p-36, -0x1.0532e647cd418p-90},
    {0x1.ffffffffff11ap-1, -0x1.3eafccbc6e8b7p-56, 0x1.370ab8327af5ep-38, -0x1.1cdf083ee84bcp-92},
    {0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55, 0x1.5422ef5d8949dp-40, 0x1.ff62258857350p-96},
    {0x1.ffffffffffef8p-1, 0x1.14be6226402c7p-56, 0x1.68823e52970bep-42, 0x1.24038ae49efbdp-98},
    {0x1.fffffffffffbep-1, -0x1.182b326b228dcp-55, 0x1.7258610b3b233p-44, -0x1.60bc7761ca394p-101},
    {0x1.ffffffffffff0p-1, -0x1.20ef3618f2d54p-56, 0x1.70beaf9c7ffb6p-46, -0x1.b0d0718f5cfd3p-103},
    {0x1.ffffffffffffcp-1, 0x1.8115fd1b12786p-56, 0x1.63daf8b4b1e0cp-48, 0x1.f38800a69fe98p-105},
    {0x1.fffffffffffffp-1, 0x1.0439397b5f70ap-56, 0x1.4cd9c04158cd7p-50, 0x1.533947579e54dp-104},
    {0x1p+0, -0x1.8cf81557d20b6p-56, 0x1.2dc119095729fp-52, -0x1.1566d13fe4564p-106},
};

/* Bits of 2 / pi after the point, highest first. */
static const uint64_t two_over_pi[21] = {
    UINT64_C(0xA2F9836E4E441529),
    UINT64_C(0xFC2757D1F534DDC0),
    UINT64_C(0xDB6295993C439041),
    UINT64_C(0xFE5163ABDEBBC561),
    UINT64_C(0xB7246E3A424DD2E0),
    UINT64_C(0x06492EEA09D1921C),
    UINT64_C(0xFE1DEB1CB129A73E),
    UINT64_C(0xE88235F52EBB4484),
    UINT64_C(0xE99C7026B45F7E41),
    UINT64_C(0x3991D639835339F4),
    UINT64_C(0x9C845F8BBDF9283B),
    UINT64_C(0x1FF897FFDE05980F),
    UINT64_C(0xEF2F118B5A0A6D1F),
    UINT64_C(0x6D367ECF27CB09B7),
    UINT64_C(0x4F463F669E5FEA2D),
    UINT64_C(0x7527BAC7EBE5F17B),
    UINT64_C(0x3D0739F78A5292EA),
    UINT64_C(0x6BFB5FB11F8D5D08),
    UINT64_C(0x56033046FC7B6BAB),
    UINT64_C(0xF0CFBC209AF4361D),
    UINT64_C(0xA9E391615EE61B08),
};
/* clang-format on */

#endif
