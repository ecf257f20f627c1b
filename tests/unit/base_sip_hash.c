/* SPDX-License-Identifier: MIT */
/*
 * base_sip_hash.c - the hash with a secret, against the numbers of its authors.
 */
#include "harness/test.h"

#include "base/sip_hash.h"
#include "os/secret.h"

static const struct sip_key key = { { 0x0706050403020100u,
				      0x0f0e0d0c0b0a0908u } };

TEST(siphash_2_4_gives_the_numbers_of_the_paper)
{
	unsigned char bytes[16];

	for (int i = 0; i < 16; i++)
		bytes[i] = (unsigned char)i;
	CHECK(sip_hash_with(&key, bytes, 0, 2, 4) == 0x726fdb47dd0e0e31u);
	CHECK(sip_hash_with(&key, bytes, 1, 2, 4) == 0x74f839c593dc67fdu);
	CHECK(sip_hash_with(&key, bytes, 8, 2, 4) == 0x93f5f5799a932462u);
	CHECK(sip_hash_with(&key, bytes, 15, 2, 4) == 0xa129ca6149be45e5u);
}

TEST(each_bit_of_the_key_and_of_the_bytes_counts)
{
	unsigned char bytes[17] = "sixteen bytes...";
	uint64_t hash = sip_hash(&key, bytes, sizeof(bytes));

	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		CHECK(sip_hash(&key, bytes, sizeof(bytes)) != hash);
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (int bit = 0; bit < 128; bit++) {
		struct sip_key other = key;

		other.word[bit / 64] ^= 1ull << bit % 64;
		CHECK(sip_hash(&other, bytes, sizeof(bytes)) != hash);
	}
	CHECK(sip_hash(&key, bytes, 16) != sip_hash(&key, bytes, 15));
}

TEST(the_secret_stays_the_same)
{
	struct sip_key first = os_secret(), second = os_secret();

	CHECK_EQ(memcmp(&first, &second, sizeof(first)), 0);
	CHECK(first.word[0] != 0 && first.word[0] != first.word[1]);
}
