"""The papers behind the numbers, as BibTeX."""

from __future__ import annotations

__all__ = ["BIBTEX"]

BIBTEX = {
    "dandi2025depth": """@article{dandi2025depth,
  author  = {Dandi, Yatin and Pesce, Luca and Zdeborova, Lenka and Krzakala, Florent},
  title   = {The computational advantage of depth: learning high-dimensional hierarchical functions with gradient descent},
  journal = {arXiv:2502.13961}, year = {2025}
}""",
    "benarous2021": """@article{benarous2021,
  author  = {Ben Arous, Gerard and Gheissari, Reza and Jagannath, Aukosh},
  title   = {Online stochastic gradient descent on non-convex losses from high-dimensional inference},
  journal = {Journal of Machine Learning Research}, volume = {22}, year = {2021}
}""",
    "mei2022": """@article{mei2022,
  author  = {Mei, Song and Misiakiewicz, Theodor and Montanari, Andrea},
  title   = {Generalization error of random feature and kernel methods: hypercontractivity and kernel matrix concentration},
  journal = {Applied and Computational Harmonic Analysis}, volume = {59}, year = {2022}
}""",
    "abbe2023": """@inproceedings{abbe2023,
  author    = {Abbe, Emmanuel and Boix-Adsera, Enric and Misiakiewicz, Theodor},
  title     = {{SGD} learning on neural networks: leap complexity and saddle-to-saddle dynamics},
  booktitle = {Conference on Learning Theory}, year = {2023}
}""",
    "dandi2024giant": """@article{dandi2024giant,
  author  = {Dandi, Yatin and Krzakala, Florent and Loureiro, Bruno and Pesce, Luca and Stephan, Ludovic},
  title   = {How two-layer neural networks learn, one (giant) step at a time},
  journal = {Journal of Machine Learning Research}, volume = {25}, year = {2024}
}""",
    "dandi2024reuse": """@inproceedings{dandi2024reuse,
  author    = {Dandi, Yatin and Troiani, Emanuele and Arnaboldi, Luca and Pesce, Luca and Zdeborova, Lenka and Krzakala, Florent},
  title     = {The benefits of reusing batches for gradient descent in two-layer networks: breaking the curse of information and leap exponents},
  booktitle = {International Conference on Machine Learning}, year = {2024}
}""",
    "arnaboldi2024": """@article{arnaboldi2024,
  author  = {Arnaboldi, Luca and Dandi, Yatin and Krzakala, Florent and Pesce, Luca and Stephan, Ludovic},
  title   = {Repetita iuvant: data repetition allows {SGD} to learn high-dimensional multi-index functions},
  journal = {arXiv:2405.15459}, year = {2024}
}""",
    "damian2024": """@inproceedings{damian2024,
  author    = {Damian, Alex and Pillaud-Vivien, Loucas and Lee, Jason D. and Bruna, Joan},
  title     = {Computational-statistical gaps in Gaussian single-index models},
  booktitle = {Conference on Learning Theory}, year = {2024}
}""",
    "damian2022": """@inproceedings{damian2022,
  author    = {Damian, Alex and Lee, Jason D. and Soltanolkotabi, Mahdi},
  title     = {Neural networks can learn representations with gradient descent},
  booktitle = {Conference on Learning Theory}, year = {2022}
}""",
    "damian2025": """@article{damian2025,
  author  = {Damian, Alex and Lee, Jason D. and Bruna, Joan},
  title   = {The generative leap: sharp sample complexity for efficiently learning Gaussian multi-index models},
  journal = {arXiv:2506.05500}, year = {2025}
}""",
    "troiani2024": """@article{troiani2024,
  author  = {Troiani, Emanuele and Dandi, Yatin and Defilippis, Leonardo and Zdeborova, Lenka and Loureiro, Bruno and Krzakala, Florent},
  title   = {Fundamental computational limits of weak learnability in high-dimensional multi-index models},
  journal = {arXiv:2405.15480}, year = {2024}
}""",
    "ba2023": """@inproceedings{ba2023,
  author    = {Ba, Jimmy and Erdogdu, Murat A. and Suzuki, Taiji and Wang, Zhichao and Wu, Denny},
  title     = {Learning in the presence of low-dimensional structure: a spiked random matrix perspective},
  booktitle = {Advances in Neural Information Processing Systems}, year = {2023}
}""",
    "mousavi2023": """@inproceedings{mousavi2023,
  author    = {Mousavi-Hosseini, Alireza and Wu, Denny and Suzuki, Taiji and Erdogdu, Murat A.},
  title     = {Gradient-based feature learning under structured data},
  booktitle = {Advances in Neural Information Processing Systems}, year = {2023}
}""",
    "mondelli2019": """@article{mondelli2019,
  author  = {Mondelli, Marco and Montanari, Andrea},
  title   = {Fundamental limits of weak recovery with applications to phase retrieval},
  journal = {Foundations of Computational Mathematics}, volume = {19}, year = {2019}
}""",
}
